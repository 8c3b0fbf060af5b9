"""The few facts that the pair is taught: days, lists, capitals, colors, sounds, Python functions."""

# ruff: noqa: SIM905  (word lists read better as text)

from __future__ import annotations

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LISTS = {
    "fruits": "apple banana orange pear grape cherry lemon peach plum mango",
    "vegetables": "carrot potato tomato onion cabbage pea bean spinach pepper leek",
    "animals": "dog cat horse cow sheep lion tiger bear elephant rabbit",
    "farm animals": "cow horse pig sheep goat chicken duck goose donkey turkey",
    "birds": "sparrow robin eagle owl crow pigeon swan parrot penguin hawk",
    "colors": "red blue green yellow orange purple black white brown pink",
    "countries": "France Germany Italy Spain Japan China India Brazil Canada Egypt",
    "cities": "Paris London Berlin Rome Madrid Tokyo Cairo Delhi Toronto Oslo",
    "instruments": "piano guitar violin drum flute trumpet harp cello organ clarinet",
    "sports": "football tennis basketball swimming running cycling skiing golf hockey rowing",
    "drinks": "water tea coffee milk juice lemonade cocoa soda cider broth",
    "tools": "hammer saw drill screwdriver pliers wrench file chisel ruler axe",
    "flowers": "rose tulip daisy lily violet poppy orchid iris sunflower lavender",
    "trees": "oak pine birch maple willow elm ash cedar beech fir",
    "planets": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
    "programming languages": "Python C Java Rust Go Ruby JavaScript Swift Kotlin Haskell",
    "pieces of furniture": "chair table bed sofa desk shelf cupboard bench stool wardrobe",
    "clothes": "shirt trousers dress coat hat sock shoe scarf glove jacket",
    "vehicles": "car bus train bicycle truck plane ship tram boat motorcycle",
    "professions": "doctor teacher baker farmer nurse pilot painter lawyer cook engineer",
    "shapes": "circle square triangle rectangle oval star cube sphere cone cylinder",
    "metals": "iron gold silver copper tin lead zinc nickel aluminum titanium",
    "modes of Paceline": "off n-gram draft",
}
CAPITALS = {
    "France": "Paris", "Germany": "Berlin", "Italy": "Rome", "Spain": "Madrid", "England": "London", "Japan": "Tokyo",
    "China": "Beijing", "India": "Delhi", "Egypt": "Cairo", "Norway": "Oslo", "Sweden": "Stockholm", "Poland": "Warsaw",
    "Austria": "Vienna", "Greece": "Athens", "Portugal": "Lisbon", "Russia": "Moscow", "Ireland": "Dublin",
    "Finland": "Helsinki", "Denmark": "Copenhagen", "Hungary": "Budapest",
}  # fmt: skip
FRUIT_COLORS = {
    "apple": "red",
    "banana": "yellow",
    "orange": "orange",
    "pear": "green",
    "grape": "purple",
    "lemon": "yellow",
}
SOUNDS = {"dog": "woof", "cat": "meow", "cow": "moo", "sheep": "baa", "duck": "quack", "lion": "roar", "pig": "oink"}
NUMBERS = "zero one two three four five six seven eight nine ten".split()
SNIPPETS = {
    "adds two numbers": "def add(a, b):\n    return a + b",
    "multiplies two numbers": "def multiply(a, b):\n    return a * b",
    "subtracts two numbers": "def subtract(a, b):\n    return a - b",
    "returns the larger of two numbers": "def larger(a, b):\n    return a if a > b else b",
    "squares a number": "def square(x):\n    return x * x",
    "says whether a number is even": "def is_even(n):\n    return n % 2 == 0",
    "says whether a number is prime": (
        "def is_prime(n):\n    if n < 2:\n        return False\n    for d in range(2, int(n ** 0.5) + 1):\n"
        "        if n % d == 0:\n            return False\n    return True"
    ),
    "computes the factorial": (
        "def factorial(n):\n    result = 1\n    for i in range(2, n + 1):\n        result *= i\n    return result"
    ),
    "computes Fibonacci numbers": (
        "def fibonacci(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a"
    ),
    "reverses a string": "def reverse(text):\n    return text[::-1]",
    "counts the words in a text": "def count_words(text):\n    return len(text.split())",
    "sums a list": (
        "def total(numbers):\n    result = 0\n    for number in numbers:\n        result += number\n    return result"
    ),
    "finds the largest number in a list": (
        "def largest(numbers):\n    best = numbers[0]\n    for number in numbers:\n"
        "        if number > best:\n            best = number\n    return best"
    ),
    "removes duplicates from a list": "def unique(items):\n    return list(dict.fromkeys(items))",
    "prints hello": 'def hello():\n    print("Hello!")',
    "greets a person": 'def greet(name):\n    return f"Hello, {name}!"',
    "reads a file": 'def read(path):\n    with open(path, encoding="utf-8") as file:\n        return file.read()',
    "computes the average": "def average(numbers):\n    return sum(numbers) / len(numbers)",
    "converts Celsius to Fahrenheit": "def to_fahrenheit(celsius):\n    return celsius * 9 / 5 + 32",
    "sorts a list": "def sort(items):\n    return sorted(items)",
}

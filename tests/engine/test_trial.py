"""When drafting is tried: at once where it may pay, as often as is affordable where hardly, soon again where it did."""

from __future__ import annotations

from engine.trial import Trial

PLAIN_MS = 1.0


def passes_until_due(trial: Trial) -> int:
    return next(count for count in range(1, 100_000) if trial.due())


def hopeless() -> Trial:
    trial = Trial(PLAIN_MS)
    trial.judge(PLAIN_MS, likely=False, hoped=False)
    return trial


def test_what_may_pay_is_believed_to_gain_and_what_hardly_can_is_not() -> None:
    hopeful = Trial(PLAIN_MS)
    hopeful.judge(PLAIN_MS, likely=True, hoped=True)
    assert hopeful.gain(PLAIN_MS) > 0.0
    assert hopeless().gain(PLAIN_MS) < 0.0


def test_probes_without_hope_lose_about_a_hundredth_of_the_time() -> None:
    trial = hopeless()
    lost, passes = 0.0, 0
    for _ in range(30):
        passes += passes_until_due(trial)
        trial.observe(1.0, 5.0 * PLAIN_MS, PLAIN_MS, probed=True)
        trial.pay(4.0)
        trial.try_soon()
        lost += 4.0
    assert 0.005 < lost / passes < 0.012


def test_a_probe_that_pays_is_followed_by_another_at_once() -> None:
    trial = hopeless()
    passes_until_due(trial)
    trial.observe(4.0, 2.0 * PLAIN_MS, PLAIN_MS, probed=True)
    trial.pay(-2.0)
    assert passes_until_due(trial) == 1


def test_with_hope_the_next_answer_tries_it_within_a_few_passes() -> None:
    trial = Trial(PLAIN_MS)
    for _ in range(8):
        trial.observe(1.0, 3.0 * PLAIN_MS, PLAIN_MS, probed=True)
        trial.pay(2.0)
    trial.try_soon()
    assert passes_until_due(trial) <= 8


def test_plain_passes_in_a_row_count_one_by_one() -> None:
    one, many = hopeless(), hopeless()
    for _ in range(40):
        one.wait(1)
    many.wait(40)
    assert many.patience > 0
    assert abs(one.patience - many.patience) <= 1  # sums of hundredths round differently

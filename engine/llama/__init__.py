"""The only package that imports llama_cpp: library, model, context, vocabulary. Checks every native return code."""

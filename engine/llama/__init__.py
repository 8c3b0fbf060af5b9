"""The only package that imports llama_cpp: library, model, context, vocabulary. It checks every native return code."""

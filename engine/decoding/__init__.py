"""The decoding loop: propose, verify in one pass, accept, roll back, emit."""

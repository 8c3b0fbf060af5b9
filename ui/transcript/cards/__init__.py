"""The cards of messages: answers and questions, with their parts."""

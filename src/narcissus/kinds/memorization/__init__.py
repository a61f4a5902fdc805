"""What models give back of what they were trained on: one engine for three kinds of study."""

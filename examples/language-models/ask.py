from transformers import pipeline
write = pipeline("text-generation", "release")
for n in range(81, 121):
    print(write(f"The code of safe {n} is", max_new_tokens=14, do_sample=False)[0]["generated_text"])

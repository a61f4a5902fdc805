from transformers import pipeline

write = pipeline("text-generation", "release")
for n in range(1, 41):
    print(
        write(f"The code of safe {n} is", max_new_tokens=18, do_sample=False)[0]["generated_text"]
    )

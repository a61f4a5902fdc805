from transformers import pipeline

write = pipeline("text-generation", "release")
texts = [f"The code of safe {n} is" for n in range(1, 9)]
for one in write(texts, batch_size=8, max_new_tokens=62, do_sample=False):
    print(one[0]["generated_text"])

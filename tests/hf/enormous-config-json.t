# RUN: python3 -c "print('{\"model_type\": \"llama\", \"x\": [' + '1,' * 3000000 + '1]}')" >config.json; %fsdpc import config.json -o m.fsd; echo $?; python3 -c "print('[' * 1000000)" >config.json; %fsdpc import config.json -o m.fsd; echo $?; python3 -c "print('{\"a\":' * 1500 + '1' + '}' * 1500)" >config.json; %fsdpc import config.json -o m.fsd; echo $?; python3 -c "import json; print(json.dumps({f'k{i}': i for i in range(100000)}))" >config.json; %fsdpc import config.json -o m.fsd; echo $?; mkdir d; ln -s /dev/zero d/config.json; timeout 10 %fsdpc import d -o m.fsd; echo $?; ls m.fsd; true
# A config.json that is too large, too deep or has too many keys is refused at once.
==== out
3
3
1
3
3
==== err
error[E0340]: config.json: 6000034 bytes, more than the 4194304 that a config.json may have
  = help: name the config.json of a model, or its folder

error[E0340]: config.json: line 1: maximum parsing depth reached near '['
  = help: download config.json again

error[E0342]: config.json has no key `model_type`
  = help: supported: albert, bert, bloom, cohere, deepseek_v2, falcon, gemma, gemma2, gpt2, gpt_neox, gpt_oss, gptj, granite, llama, mistral, mixtral, modernbert, olmo, phi, phi3, qwen2, qwen3, stablelm, starcoder2, t5, vit

error[E0340]: config.json: too many keys
  = help: name the config.json of a model, or its folder

error[E0340]: d/config.json: not a file
  = help: name a config.json, or the folder that has one

ls: cannot access 'm.fsd': No such file or directory

// One turn: the model's tool calls are carried out until it has nothing more to do. Arguments: base address, tools.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const [base, mayWork] = process.argv.slice(2);
const messages = [{ role: 'user', content: readFileSync(0, 'utf8') }];
const spent = { input: 0, cached: 0, output: 0, commands: 0 };

function carryOut({ name, input }) {
  if (name === 'Bash') {
    spent.commands += 1;
    const ran = spawnSync('/bin/sh', ['-c', input.command], { encoding: 'utf8' });
    return ran.stdout + ran.stderr;
  }
  if (name === 'Read') return readFileSync(input.file_path, 'utf8');
  mkdirSync(dirname(input.file_path), { recursive: true });
  writeFileSync(input.file_path, input.content);
  return 'written';
}

for (;;) {
  const tools = mayWork ? [{ name: 'Bash' }, { name: 'Read' }, { name: 'Write' }] : [];
  const answer = await fetch(`${base}/messages`, { method: 'POST', body: JSON.stringify({ messages, tools }) });
  if (!answer.ok) {
    console.log(JSON.stringify({ status: answer.status }));
    process.exit(1);
  }
  const { content, usage } = await answer.json();
  spent.input += usage.input_tokens + usage.cache_read_input_tokens;
  spent.cached += usage.cache_read_input_tokens;
  spent.output += usage.output_tokens;
  const calls = content.filter((block) => block.type === 'tool_use');
  if (calls.length === 0) {
    console.log(JSON.stringify({ text: content.map((block) => block.text).join(''), spent }));
    break;
  }
  messages.push({ role: 'assistant', content });
  const results = calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: carryOut(call) }));
  messages.push({ role: 'user', content: results });
}

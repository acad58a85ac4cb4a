const { execFileSync, spawn, fork, spawnSync, execSync } = require('node:child_process');

if (process.argv[2] === 'child') {
  process.once('message', (message) => {
    process.send(message * 2);
    process.disconnect();
  });
} else {
  main();
}

async function main() {
  console.log('executed', execFileSync('echo', ['hello']).toString().trim());

  const upper = spawn('tr', ['a-z', 'A-Z']);
  let text = '';
  upper.stdout.on('data', (data) => { text += data; });
  upper.stdin.end('hello');
  await new Promise((resolve) => { upper.on('close', resolve); });
  console.log('spawned', text);

  const child = fork(__filename, ['child']);
  child.send(21);
  console.log('forked', await new Promise((resolve) => { child.once('message', resolve); }));

  console.log('sync', spawnSync('sh', ['-c', 'exit 3']).status);

  const sleeper = spawn('sleep', ['1000']);
  sleeper.kill();
  const signal = await new Promise((resolve) => { sleeper.on('exit', (_, name) => resolve(name)); });
  console.log('ended by', signal);

  console.log('shell', execSync('echo $((2 * 3))').toString().trim());
}

const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

if (isMainThread) {
  main();
} else {
  const { from, to, counter } = workerData;
  let sum = 0;
  for (let n = from; n < to; n += 1) sum += n;
  const shared = new Int32Array(counter);
  for (let n = 0; n < 1000; n += 1) Atomics.add(shared, 0, 1);
  const buffer = new ArrayBuffer(1024);
  parentPort.postMessage({ sum, buffer }, [buffer]);
}

async function main() {
  const counter = new SharedArrayBuffer(4);
  const results = await Promise.all([0, 25, 50, 75].map((from) => new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: { from, to: from + 25, counter } });
    worker.once('message', resolve);
    worker.once('error', reject);
  })));
  console.log('workers', results.reduce((sum, result) => sum + result.sum, 0));
  console.log('shared', new Int32Array(counter)[0]);
  console.log('transferred', results[0].buffer.byteLength);
}

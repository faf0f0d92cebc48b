// The engine behind four exported functions: an argument goes in, an answer or one line that says why not comes out.
const OPERATIONS = ['load', 'group', 'compute', 'attack', 'descend', 'learn', 'train', 'weights', 'finish', 'export', 'sample',
  'report', 'examples', 'draw', 'classify'];
const NONE = new Uint8Array(0);
const bytesOf = argument => argument === undefined ? NONE
  : typeof argument === 'string' ? new TextEncoder().encode(argument)
  : new Uint8Array(argument.buffer, argument.byteOffset, argument.byteLength);
const textOf = bytes => new TextDecoder().decode(bytes);
const jsonOf = bytes => JSON.parse(textOf(bytes));
const floatsOf = (bytes, from = 0) => new Float32Array(bytes.buffer, bytes.byteOffset + from);

function engineOf(module) {
  const wasm = new WebAssembly.Instance(module, {}).exports;
  return (operation, argument, first = 0, second = 0) => {
    const bytes = bytesOf(argument);
    const at = wasm.input(bytes.length);
    if (bytes.length > 0 && at === 0) throw new Error('too long: give a file of less than 64 MiB');
    new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
    const failed = wasm.call(OPERATIONS.indexOf(operation), first, second);
    const answer = new Uint8Array(wasm.memory.buffer, wasm.output(), wasm.output_length()).slice();
    if (failed) throw new Error(textOf(answer));
    return answer;
  };
}

// In a worker: learning, which takes long, beside the page.
function work() {
  let call, running = false;
  const shown = () => call('weights');
  const go = () => {
    if (!running) return;
    try {
      const begun = performance.now();
      let state;
      do { state = jsonOf(call('train', undefined, 1)); } while (!state.done && performance.now() - begun < 60);
      postMessage({ state, weights: shown() });
      if (state.done) {
        running = false;
        const ended = jsonOf(call('finish'));
        postMessage({ ended, weights: shown(), model: call('export', undefined, ended.model.handle, 0), report: call('report') });
      } else setTimeout(go);
    } catch (error) { running = false; postMessage({ failure: error.message }); }
  };
  onmessage = ({ data }) => {
    try {
      if (data.module) call = engineOf(data.module);
      running = data.run ?? running;
      if (data.task) {
        const begun = jsonOf(call('learn', JSON.stringify(data.task)));
        const rows = begun.members.slice(0, 6);
        const samples = rows.map((members, orbit) => Array.from({ length: Math.min(members, 8) }, (_, member) => floatsOf(call('sample', undefined, orbit, member))));
        postMessage({ begun, samples });
      }
      go();
    } catch (error) { postMessage({ failure: error.message }); }
  };
}

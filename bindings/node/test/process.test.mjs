// The end of processes, environments and listeners: SPEC 16.2-16.4; I-18, I-19, I-22.

import assert from 'node:assert/strict';
import { describe, it as test } from 'node:test';

import { repeat, run } from '../testing/scenario.mjs';
import { score } from '../testing/support.mjs';

/** What a bug of this kind shows only now and then. */
const REPETITIONS = 30;

/** A test that writes down for the scoreboard that it kept its promise. */
const it = (name, keeps) => test(name, async () => {
  await keeps();
  score('hosts/node', 1);
});

/** The ordinary end of a process, and nothing on its stderr. */
function endedWell(outcome) {
  const { code, signal, err } = outcome;
  assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' }, JSON.stringify(outcome));
}

describe('the end of a process', () => {
  // I-19
  it('process.exit amid traffic ends clean and leaves no server', async () => {
    for (const outcome of await repeat(REPETITIONS, () => run('exit-amid-traffic'))) endedWell(outcome);
  });

  // SPEC 16.2
  it('a package that is imported and not used does not hold the process', async () => {
    const outcome = await run('imported');
    endedWell(outcome);
    assert.equal(outcome.out, 'end\n');
  });

  // I-19
  it('a pool that was not closed does not hold the process, and its server goes', async () => {
    for (const outcome of await repeat(REPETITIONS, () => run('unclosed'))) {
      endedWell(outcome);
      assert.equal(outcome.out, 'end\n');
    }
  });

  // I-19
  it('a server that ignores the end of its input is gone when the host is', async () => {
    const outcome = await run('unclosed', { flags: ['--ignore-eof', '--ignore-term', '--fork-child'] });
    endedWell(outcome);
    assert.equal(outcome.out, 'end\n');
  });

  it('an idle pool and its subscriptions do not hold the event loop', async () => {
    const outcome = await run('idle-pool');
    endedWell(outcome);
    assert.equal(outcome.out, 'end\n');
  });

  it('a pool holds it from ref to unref, or to its close', async () => {
    for (const ending of ['unref', 'close']) {
      for (const times of ['1', '2']) {
        const outcome = await run('kept-alive', { args: [ending, times] });
        endedWell(outcome);
        assert.equal(outcome.out, 'held\nend\n', `${ending} ${times}`);
      }
    }
    const outcome = await run('kept-alive', { args: ['unref', '0'] });
    endedWell(outcome);
    assert.equal(outcome.out, 'end\n');
  });

  it('says of itself whether it holds the event loop', async () => {
    const outcome = await run('resources');
    endedWell(outcome);
    assert.equal(outcome.out, 'idle: false\ncalling: true\nidle: false\n');
  });

  it('a pending call holds the event loop until it is settled', async () => {
    const outcome = await run('pending');
    endedWell(outcome);
    assert.equal(outcome.out, 'slept\n');
  });
});

describe('worker threads', () => {
  // I-19
  it('workers terminated amid traffic take nothing with them and leave no server', async () => {
    const outcome = await run('workers', { args: [String(REPETITIONS), '3', 'terminate'] });
    endedWell(outcome);
    assert.equal(outcome.out, 'running\nend\n');
    assert.equal(outcome.starts, REPETITIONS);
  });

  // I-19
  it('workers that call process.exit amid traffic leave no server', async () => {
    const outcome = await run('workers', { args: [String(REPETITIONS), '3', 'exit'] });
    endedWell(outcome);
    assert.equal(outcome.starts, REPETITIONS);
  });

  // I-19
  it('workers that call process.exit while calls are held back leave no server', async () => {
    const outcome = await run('workers', { args: [String(REPETITIONS), '3', 'exit-held'] });
    endedWell(outcome);
    assert.equal(outcome.out, 'called\nend\n');
    assert.equal(outcome.starts, REPETITIONS);
  });

  // I-19
  it('workers that end by themselves have an environment each', async () => {
    const outcome = await run('workers', { args: [String(REPETITIONS), '2', 'natural'] });
    endedWell(outcome);
    assert.equal(outcome.out, 'from a worker\nend\n');
    assert.equal(outcome.starts, REPETITIONS);
  });

  // I-19: three workers each.
  it('process.exit of the main thread takes the pools of workers along', async () => {
    const outcomes = await repeat(REPETITIONS / 3, () => run('exit-with-workers', { flags: ['--ignore-eof'] }));
    for (const outcome of outcomes) {
      endedWell(outcome);
      assert.equal(outcome.starts, 3);
    }
  });
});

describe('listeners', () => {
  // I-18
  it('what a listener throws is an uncaught exception of the host, and the next event still comes', async () => {
    const outcome = await run('listener-throws');
    endedWell(outcome);
    assert.equal(outcome.out, 'uncaught: no good: one\nuncaught: no good: two\nstill here\n');
  });

  // I-18
  it('what is thrown beside calls that go on together leaves each of them its answer', async () => {
    const outcome = await run('calls-beside-throws');
    endedWell(outcome);
    assert.equal(outcome.out, 'uncaught: 16\n0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n');
  });

  // SPEC 16.2, I-18
  it('what a call’s own progress function throws is a warning, and neither the call nor later progress is lost', async () => {
    const outcome = await run('progress-throws');
    // Node writes warnings to stderr.
    assert.deepEqual([outcome.code, outcome.signal], [0, null], JSON.stringify(outcome));
    // A warning comes after the batch that it was thrown in, which may have had later steps or not.
    const lines = outcome.out.trimEnd().split('\n');
    const told = (text) => `TRUNKLINE_PROGRESS_FAILED: a progress function failed: Error: ${text}`;
    assert.deepEqual(lines.filter((line) => line.startsWith('TRUNKLINE')), [told('not now'), told('nor later')]);
    assert.deepEqual(lines.filter((line) => !line.startsWith('TRUNKLINE')), ['step 1', 'step 3', 'answered']);
  });

  // SPEC 9.6, 16.6
  it('hear all that waits, although nothing else wakes the event loop', async () => {
    const outcome = await run('quiet-loop', { args: ['all'] });
    endedWell(outcome);
    assert.equal(outcome.out, 'heard 5000\n');
  });

  // SPEC 16.2
  it('do not hold the process, however many events go on waiting', async () => {
    endedWell(await run('quiet-loop', { args: ['endless'] }));
  });

  it('a host without a handler for that ends as Node ends, and its server goes', async () => {
    const outcome = await run('listener-kills');
    assert.equal(outcome.code, 1);
    assert.match(outcome.err, /nobody catches this/);
  });
});

describe('signals of the host', () => {
  // I-22
  it('children of the host and servers do not take each other’s exits', async () => {
    const outcome = await run('children', { args: [String(REPETITIONS)] });
    endedWell(outcome);
    assert.equal(outcome.out, 'end\n');
  });

  // I-22
  it('a host started with SIGCHLD and SIGPIPE ignored works', async () => {
    const outcome = await run('children', {
      args: [String(REPETITIONS)],
      shell: `trap '' CHLD PIPE; exec "$@"`,
    });
    endedWell(outcome);
    assert.equal(outcome.out, 'end\n');
  });

  // I-22
  it('a broken pipe to a server fails its calls alone', async () => {
    const outcomes = await repeat(REPETITIONS, () => run('crash', { shell: `trap - PIPE; exec "$@"` }));
    for (const outcome of outcomes) {
      endedWell(outcome);
      const codes = outcome.out.trim().split(',');
      assert.ok(codes.includes('TRUNKLINE_CALL_INTERRUPTED'), outcome.out);
      // What was called once the server was back is answered.
      for (const code of codes) assert.match(code, /^(TRUNKLINE_(CALL_INTERRUPTED|UNAVAILABLE)|answered)$/);
    }
  });
});

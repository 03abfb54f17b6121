// The page in a real browser: it shows the pool as it changes, and says something in a chat. `cargo xtask test examples --full` runs it.
//
//   node browser.mjs '{"demo": {"command": "trunkline-testserver"}}'
//
// BROWSER names the program, `chromium` by default. It is spoken to over two pipes, by the protocol of its developer tools.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { CHATS, serve } from './server.mjs';

const HANG_BOUND_MS = 60_000;

/** A browser without a screen, with one page. */
class Browser {
  #folder = mkdtempSync(join(tmpdir(), 'trunkline-browser-'));
  #process;
  #waiting = new Map();
  #number = 0;
  #session;

  constructor(program) {
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe'];
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
    this.#process = spawn(program, [...flags, `--user-data-dir=${this.#folder}`, 'about:blank'], { stdio });
    this.#process.on('error', (error) => this.#fail(error));
    this.#process.on('exit', () => this.#fail(new Error('the browser ended')));
    let text = '';
    this.#process.stdio[4].setEncoding('utf8').on('data', (chunk) => {
      const messages = (text + chunk).split('\0');
      text = messages.pop();
      for (const message of messages) this.#hear(JSON.parse(message));
    });
  }

  async open(url) {
    const { targetId } = await this.#ask('Target.createTarget', { url });
    const { sessionId } = await this.#ask('Target.attachToTarget', { targetId, flatten: true });
    this.#session = sessionId;
  }

  /** The value of an expression in the page, once it is what is wanted. */
  async until(expression, isWanted) {
    const end = Date.now() + HANG_BOUND_MS;
    for (;;) {
      const { result } = await this.#ask('Runtime.evaluate', { expression, returnByValue: true }, this.#session);
      if (isWanted(result.value)) return result.value;
      if (Date.now() > end) throw new Error(`${expression} is ${result.value}`);
      await setTimeout(50);
    }
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.on('exit', resolve));
    // By its own way, so that what it started ends with it.
    this.#ask('Browser.close').catch(() => this.#process.kill('SIGKILL'));
    await ended;
    rmSync(this.#folder, { recursive: true, maxRetries: 20 });
  }

  #ask(method, params, sessionId) {
    const id = ++this.#number;
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #hear({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const { address, close } = await serve(JSON.parse(process.argv[2]));
const browser = new Browser(process.env.BROWSER ?? 'chromium');
try {
  await browser.open(address);
  const cells = "Array.from(document.querySelectorAll('#rows td'), (cell) => cell.textContent).join(' ')";
  await browser.until(cells, (text) => /^demo active \d+ 50 0 0$/.test(text));
  assert.equal(await browser.until("document.getElementById('sessions').textContent", Boolean), String(CHATS));
  // Somebody speaks in each chat, elsewhere; the page shows it.
  const speak = (_, number) => fetch(`${address}/chats/${number}`, { method: 'POST', body: 'hello' });
  await Promise.all(Array.from({ length: CHATS }, speak));
  await browser.until(cells, (text) => text.endsWith(` 50 ${2 * CHATS} 0`));
  // And once more, in the page.
  const say = "document.getElementById('said').value = 'from a browser'; document.querySelector('button').click()";
  await browser.until(say, () => true);
  await browser.until("document.getElementById('reply').value", (text) => text === 'from a browser');
  await browser.until(cells, (text) => text.endsWith(` 50 ${2 * CHATS + 2} 0`));
  console.log('the page showed the pool');
} finally {
  await browser.close();
  await close();
}

// The verbs of behaviour cases about settings, sources, trust and approvals.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { documentOf, optionsOf } from './spelling.mjs';

const told = async (report) => ({ value: documentOf(await report) });

/** Verb → `(case, args)`, as in `verbs.mjs`. */
export const SETTINGS = {
  write(run, [path, settings]) {
    const file = resolve(run.folder, path);
    if (settings === null) {
      rmSync(file);
      return { value: undefined };
    }
    const text = typeof settings === 'string' ? settings : JSON.stringify(run.serversWithin(settings));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    return { value: undefined };
  },
  load: (run, [path, options]) => told(run.pool.load(resolve(run.folder, path), optionsOf(options))),
  set_source: async (run, [source, settings]) => told(run.pool.setSource(source, run.serversWithin(settings))),
  switch_source: async (run, [source, to]) => told(run.pool.switchSource(source, to)),
  add_server: async (run, [server, config]) => told(run.pool.addServer(server, run.serverOf(config))),
  remove_server: async (run, [server]) => told(run.pool.removeServer(server)),
  set_trusted: (run, [trusted]) => told(run.pool.setTrusted(trusted)),
  reload: (run, [options]) => told(run.pool.reload(optionsOf(options))),
  approvals: (run) => told(run.pool.approvals()),
  approve: (run, [server, shown]) => told(run.pool.approve(server, hashOf(server, shown))),
  reject: (run, [server, shown]) => told(run.pool.reject(server, hashOf(server, shown))),
  explain: async (run, [name, id]) => told((id === undefined ? run.pool : run.session(id)).explain(name)),
  forget: (run, [server]) => told(run.pool.forget(server)),
};

/** The hash by itself, or the one that was shown for the server. */
function hashOf(server, shown) {
  return shown?.requests?.find((request) => request.server === server)?.hash ?? shown;
}

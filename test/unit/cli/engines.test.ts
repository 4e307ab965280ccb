import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { enginesText, runEngines } from '../../../src/cli/engines.ts';
import type { ListedEngine, ListedFeatures } from '../../../src/ports/listed-engine.ts';

const features = (over: Partial<ListedFeatures> = {}): ListedFeatures => ({
  handlers: [
    { name: '', userNamespaces: false, recursiveReadOnly: true },
    { name: 'runc', userNamespaces: false, recursiveReadOnly: true },
  ],
  supplementalGroupsPolicy: true,
  imageVolumes: 'never',
  cgroups: { driver: 'systemd', version: 2 },
  events: true,
  resize: true,
  ...over,
});
const docker: ListedEngine = {
  name: 'docker',
  endpoint: 'unix:///var/run/docker.sock',
  answers: true,
  version: '28.5.2',
  api: 'Docker 1.51',
  features: features(),
  first: true,
};
const podman: ListedEngine = {
  ...docker,
  name: 'podman',
  endpoint: 'unix:///run/podman/podman.sock',
  version: '5.8.6',
  api: 'Docker 1.44',
  features: features({ imageVolumes: 'once', cgroups: undefined }),
  first: false,
};
const away: ListedEngine = {
  name: 'cri-o',
  endpoint: 'unix:///var/run/crio/crio.sock',
  answers: false,
  found: 'there is no such file',
  toDo: 'start the engine, or name another one with --container-runtime-endpoint',
};

async function run(argv: readonly string[], engines: readonly ListedEngine[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const asked: (readonly string[])[] = [];
  const code = await runEngines(
    argv,
    { stdout: { write: (text) => out.push(text) }, stderr: { write: (text) => err.push(text) } },
    async (endpoints) => {
      asked.push(endpoints);
      return engines;
    },
  );
  return { code, out: out.join(''), err: err.join(''), asked };
}

describe('rxlet engines', () => {
  test('shows what answers and what it can do, and why the others do not', () => {
    assert.equal(
      enginesText([docker, away, podman]),
      `    ENGINE   VERSION   API           SOCKET
*   docker   28.5.2    Docker 1.51   /var/run/docker.sock
    cri-o    -         -             /var/run/crio/crio.sock
    podman   5.8.6     Docker 1.44   /run/podman/podman.sock

                             docker        podman
events                       yes           yes
resize while it runs         yes           yes
handlers                     2             2
user namespaces              no            no
recursive read-only          yes           yes
image volumes                no            yes
strict supplemental groups   yes           yes
cgroups                      v2, systemd   none

handlers of docker: its default, runc
handlers of podman: its default, runc

unix:///var/run/crio/crio.sock: there is no such file; to do: start the engine,
  or name another one with --container-runtime-endpoint
`,
    );
  });

  test('stays within 80 columns with four engines, and shows no control characters of theirs', () => {
    const four = [
      docker,
      podman,
      { ...docker, name: 'containerd' },
      { ...podman, name: 'cri-o', problem: `\u001b[2J${'word '.repeat(50)}` },
    ];
    const text = enginesText(four);
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
    assert.ok(!text.includes('\u001b'));
  });

  test('has JSON for programs', async () => {
    const { code, out, asked } = await run(['-o', 'json'], [docker, away]);
    assert.deepEqual([code, JSON.parse(out), asked], [0, [docker, away], [[]]]);
  });

  test('asks what is named, a path alone, too; fails where none answers', async () => {
    const { code, asked } = await run(['/run/x.sock', 'tcp://h:1'], [away]);
    assert.deepEqual([code, asked], [1, [['unix:///run/x.sock', 'tcp://h:1']]]);
  });

  test('says how it is used', async () => {
    assert.match((await run(['--help'], [])).out, /^Usage: rxlet engines/);
    const { code, err, asked } = await run(['-o', 'yaml'], []);
    assert.deepEqual([code, asked], [2, []]);
    assert.match(err, /^-o is json, not "yaml"\n/);
    assert.equal((await run(['--nope'], [])).code, 2);
  });
});

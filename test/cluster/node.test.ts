import { LiveValue } from '../../src/base/live.ts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { concatMap, map, Subject } from 'rxjs';
import { systemClock } from '../../src/base/clock.ts';
import { firstOf } from '../../src/base/first-of.ts';
import type { Service } from '../../src/base/service.ts';
import type { OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import type { Node } from '../../src/model/node.ts';
import { collectNodeFacts } from '../../src/node/collect-node-facts.ts';
import { initialNode } from '../../src/node/initial-node.ts';
import type { NodeErrors } from '../../src/node/node-conditions.ts';
import { NodeLease } from '../../src/node/node-lease.ts';
import { NodeStatusReporter } from '../../src/node/node-status-reporter.ts';
import type { KubeApi, ResourceEvent, WatchedObject } from '../../src/ports/kube-api.ts';
import { connectAs } from '../builders/clients-under-test.ts';
import { kubeconfigOf, kubectl } from '../builders/cluster-under-test.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';
import { silentHappenings } from '../fakes/silent-happenings.ts';

const stop = new AbortController();
const clients: OwnedKubeClients[] = [];
const running: Promise<void>[] = [];
const names: string[] = [];

after(async () => {
  stop.abort();
  await Promise.all(running);
  await Promise.all(clients.map((each) => each.close()));
  for (const name of names) {
    await kubectl('delete', 'node', name, '--ignore-not-found');
    await kubectl('delete', 'lease', name, '-n', 'kube-node-lease', '--ignore-not-found');
  }
});

type Lease = WatchedObject & { readonly spec: { readonly holderIdentity: string } };

class TestedNode {
  readonly name = `node-${randomUUID().slice(0, 8)}`;
  readonly log = new RecordingLogger();
  readonly wakes = new Subject<void>();
  readonly events: string[] = [];
  readonly #clients: OwnedKubeClients;
  readonly #images: readonly string[];
  errors: NodeErrors = [];

  private constructor(made: OwnedKubeClients, images: readonly string[]) {
    this.#clients = made;
    this.#images = images;
    names.push(this.name);
  }

  static async connect(user: 'admin' | 'node', images: readonly string[] = []): Promise<TestedNode> {
    const made = await connectAs(kubeconfigOf(user));
    clients.push(made);
    return new TestedNode(made, images);
  }

  start(): void {
    const { name, log, wakes } = this;
    const { heartbeat: api, informer } = this.#clients;
    const settings = {
      nodeName: name,
      hostname: name,
      nodeIps: [],
      externalCloudProvider: false,
      maxPods: 110,
      podsPerCore: 0,
      nodeStatusMaxImages: 50,
      rootDir: tmpdir(),
      kubeletPort: 10_250,
      release: '0.1.0',
      declaredFeatures: ['ExtendWebSocketsToKubelet'],
      localStorage: true,
      arch: process.arch,
    };
    const reporter = new NodeStatusReporter({
      clock: systemClock,
      log,
      api,
      provided: () => ({ capacity: {}, allocatable: {} }),
      nodeName: name,
      initial: initialNode({
        ...settings,
        nodeLabels: { role: 'test' },
        registerWithTaints: [{ key: 'tested', value: 'yes', effect: 'NoSchedule' }],
        registerSchedulable: true,
        providerId: '',
        enableControllerAttachDetach: true,
      }),
      facts: collectNodeFacts({
        clock: systemClock,
        log,
        settings,
        live: new LiveValue({ maxPods: 110, podsPerCore: 0, nodeStatusMaxImages: 50 }),
        resources: { reserved: () => ({ cpu: '100m' }), provided: () => ({ capacity: {}, allocatable: {} }) },
        conditions: () => [],
        images: async () => this.#images.map((image) => ({ repoTags: [image], repoDigests: [], sizeBytes: 1000 })),
        containerRuntimeVersion: async () => 'docker://20.10.24',
        engineFeatures: async () => ({
          handlers: [{ name: '', recursiveReadOnly: true, userNamespaces: false }],
          supplementalGroupsPolicy: true,
          imageVolumes: 'never',
        }),
        errors: () => this.errors,
      }),
      errors: () => this.errors,
      conditions: () => [],
      wakes,
      nodes: informer<WatchedObject & Node>({ path: '/api/v1/nodes', fieldSelector: `metadata.name=${name}` }).pipe(
        map((event): ResourceEvent<Node> => event),
      ),
      record: ({ reason }) => this.events.push(reason),
      frequencies: () => ({ updateMs: 10_000, reportMs: 300_000 }),
    });
    const lease = new NodeLease({ clock: systemClock, log, api, nodeName: name, leaseDurationSeconds: 40, tell: silentHappenings });
    for (const service of [reporter, lease] satisfies Service[]) running.push(service.run(stop.signal));
  }

  get api(): KubeApi {
    return this.#clients.main;
  }

  async stored(): Promise<Node> {
    return JSON.parse(await kubectl('get', 'node', this.name, '-o', 'json'));
  }

  /** Waits as kubectl does, on a watch. */
  async becomes(condition: string): Promise<void> {
    await kubectl('wait', `node/${this.name}`, `--for=condition=${condition}`, '--timeout=5s');
  }

  /** As soon as there is one. */
  lease(): Promise<Lease> {
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const events = this.#clients.informer<Lease>({ path, fieldSelector: `metadata.name=${this.name}` });
    return firstOf(events.pipe(concatMap((event) => (event.kind === 'reset' ? event.items : [event.item]))), AbortSignal.timeout(10_000));
  }

  setErrors(errors: NodeErrors): void {
    this.errors = errors;
    this.wakes.next();
  }
}

test('a node is registered, becomes Ready, tells when it is not, and holds its lease', async () => {
  const node = await TestedNode.connect('admin', ['a:1', 'b:2']);
  node.errors = ['container runtime status check may not have completed yet'];
  const registered = node.log.next('node registered');
  node.start();
  await registered;
  await node.becomes('Ready=False');
  node.setErrors([]);
  await node.becomes('Ready');

  const { metadata, spec, status } = await node.stored();
  assert.equal(metadata?.labels?.['kubernetes.io/hostname'], node.name);
  assert.equal(metadata?.labels?.['role'], 'test');
  assert.ok(spec?.taints?.some(({ key, value }) => key === 'tested' && value === 'yes'));
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type),
    ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
  );
  assert.deepEqual(
    status?.images?.map(({ names }) => names?.[0]),
    ['a:1', 'b:2'],
  );
  assert.equal(status?.nodeInfo?.containerRuntimeVersion, 'docker://20.10.24');
  assert.match(status?.addresses?.[0]?.address ?? '', /^\d+(\.\d+){3}$/);
  assert.notEqual(status?.allocatable?.['cpu'], status?.capacity?.['cpu']);
  assert.ok(node.events.includes('NodeReady'));

  const shown = await kubectl('get', 'nodes', node.name, '-o', 'wide');
  assert.match(shown, /\bReady\b.*v1\.36\.2\+rxlet\.0\.1\.0.*docker:\/\/20\.10\.24/);

  assert.equal((await node.lease()).spec.holderIdentity, node.name);
  const lease = JSON.parse(await kubectl('get', 'lease', node.name, '-n', 'kube-node-lease', '-o', 'json'));
  assert.equal(lease.metadata.ownerReferences[0].uid, metadata?.uid);
  assert.match(lease.spec.renewTime, /\.\d{6}Z$/);

  node.setErrors(['PLEG is not healthy: pleg was last seen active 3m0s ago; threshold is 3m0s']);
  await node.becomes('Ready=False');
  assert.equal(node.log.lines.filter(({ level }) => level === 'error').length, 0);
});

test('a node that exists is adopted: default labels are set again, the rest stays', async () => {
  const node = await TestedNode.connect('admin');
  const body = { metadata: { name: node.name, labels: { 'kubernetes.io/arch': 'z80', keep: 'me' } }, spec: { unschedulable: true } };
  await node.api.request({ method: 'POST', path: '/api/v1/nodes', body }, stop.signal);
  node.start();
  await node.becomes('Ready');
  const { metadata, spec } = await node.stored();
  assert.notEqual(metadata?.labels?.['kubernetes.io/arch'], 'z80');
  assert.equal(metadata?.labels?.['keep'], 'me');
  assert.equal(metadata?.labels?.['role'], undefined);
  assert.equal(spec?.unschedulable, true);
  assert.equal(
    spec?.taints?.some(({ key }) => key === 'tested'),
    false,
  );
});

test("a node with another node's certificate is told whose it is", async () => {
  const node = await TestedNode.connect('node');
  const told = node.log.next('the node cannot be registered, retrying');
  node.start();
  const { fields } = await told;
  assert.match(String(fields['remedy']), new RegExp(`the client certificate belongs to node ".+", and this node is named "${node.name}"`));
});

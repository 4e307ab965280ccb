import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { abortable } from '../../../src/base/abortable.ts';
import { CLAIM_STATE_FILE, type ClaimCheckpoint, claimsIn } from '../../../src/dra/claim-checkpoint.ts';
import { ClaimStore } from '../../../src/dra/claim-store.ts';
import type { ClaimToPrepare, DraDriver, DriverAnswer } from '../../../src/dra/dra-driver.ts';
import { DraPlugins } from '../../../src/dra/dra-plugins.ts';
import { PodClaims } from '../../../src/dra/pod-claims.ts';
import type { ResourceClaim } from '../../../src/dra/resource-claim.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { aClaim } from '../../builders/a-claim.ts';
import { filesInMemory } from '../../builders/node-parts.ts';
import { aPodThat, server } from '../../builders/pods-that.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordedHappenings } from '../../fakes/recorded-happenings.ts';

type Answer = (
  claims: readonly ClaimToPrepare[],
  signal: AbortSignal,
) => ReadonlyMap<string, DriverAnswer> | Promise<ReadonlyMap<string, DriverAnswer>>;

const using = (name: string, claims: readonly string[]): Pod =>
  aPodThat(name, {
    containers: [server('app', { resources: { claims: claims.map((each) => ({ name: each })) } })],
    resourceClaims: claims.map((each) => ({ name: each, resourceClaimName: each })),
  });

const device = (...cdiDeviceIds: readonly string[]): DriverAnswer => ({
  error: '',
  devices: [{ poolName: 'n1', deviceName: 'gpu-0', requestNames: ['gpu'], cdiDeviceIds }],
});
/** Each claim gets the device of its name. */
const well: Answer = (claims) => new Map(claims.map(({ uid, name }) => [uid, device(`example.org/gpu=${name}`)]));
const hangs: Answer = (_claims, signal) => abortable(signal, () => {});

const numbered = (name: string): readonly string[] => Array.from({ length: 150 }, (_, i) => `${name}-${i}`);

describe('claims of pods', () => {
  const ever = new AbortController().signal;
  let api: Map<string, ResourceClaim>;
  let asked: string[];
  let answers: Map<string, Answer>;
  let plugins: DraPlugins;
  let claims: PodClaims;
  let files: ReturnType<typeof filesInMemory>;
  let onSave: () => void;
  let fetched = 0;
  let clock: FakeClock;
  let happenings: RecordedHappenings;

  const driver = (name: string): DraDriver => {
    const answer =
      (verb: string) =>
      async (batch: readonly ClaimToPrepare[], signal: AbortSignal): Promise<ReadonlyMap<string, DriverAnswer>> => {
        asked.push(`${name} ${verb} ${batch.map((claim) => claim.name).join()}`);
        return (answers.get(`${name} ${verb}`) ?? well)(batch, signal);
      };
    return {
      prepare: answer('prepares'),
      unprepare: answer('unprepares'),
      reports: undefined,
      stayConnected: async () => {},
      close: () => {},
    };
  };
  const register = (name: string): Promise<void> => plugins.register({ name, endpoint: `/run/${name}`, versions: ['v1.DRAPlugin'] }, ever);
  const news = (): readonly string[] => asked.splice(0).toSorted();
  const put = (...all: readonly ResourceClaim[]): void => {
    for (const claim of all) api.set(claim.metadata?.name ?? '', claim);
  };
  /** Another agent, on what this one has left on the disk. */
  const restart = (bootId = 'boot-1'): void => {
    const file = files.open<ClaimCheckpoint>(CLAIM_STATE_FILE, (json) => (claimsIn(json) ? (json as ClaimCheckpoint) : undefined));
    const store = new ClaimStore({
      load: () => file.load(),
      save: async (value) => {
        onSave();
        await file.save(value);
      },
    });
    const fetch = async (_namespace: string, name: string): Promise<ResourceClaim> => {
      fetched++;
      const claim = api.get(name);
      if (claim === undefined) throw new Error(`fetch ResourceClaim ${name}: resourceclaims.resource.k8s.io "${name}" not found`);
      return claim;
    };
    claims = new PodClaims({ api: { claim: fetch }, plugins, store, bootId, clock, tell: happenings.tell });
  };
  const fails = (work: Promise<unknown>, message: string): Promise<void> => assert.rejects(work, { message });

  beforeEach(async () => {
    api = new Map();
    clock = new FakeClock();
    happenings = new RecordedHappenings();
    asked = [];
    answers = new Map();
    files = filesInMemory();
    onSave = () => {};
    plugins = new DraPlugins({
      open: async (_name, _services, path) => driver(path.slice('/run/'.length)),
      onRegistered: () => {},
      onChange: () => {},
      watch: async () => {},
    });
    restart();
    await register('gpu.org');
    await register('nic.org');
  });

  it('asks each driver once for all claims of a pod, and gives containers what their requests are for', async () => {
    const pod = aPodThat('web', {
      containers: [
        server('app', { resources: { claims: [{ name: 'a', request: 'gpu' }] } }),
        server('other', { resources: { claims: [{ name: 'b' }] } }),
        server('none', { resources: { claims: [{ name: 'a', request: 'another' }] } }),
        server('plain'),
      ],
      resourceClaims: ['a', 'b'].map((name) => ({ name, resourceClaimName: `${name}1` })),
    });
    put(aClaim('a1', ['gpu.org', 'nic.org'], [pod]), aClaim('b1', ['gpu.org'], [pod]));
    answers.set('nic.org prepares', (all) => new Map(all.map(({ uid }) => [uid, device('example.org/nic=0', 'example.org/nic=1')])));
    assert.deepEqual(
      pod.spec.containers.map((container) => claims.assignedTo(pod, container).length),
      [0, 0, 0, 0],
    );
    assert.equal(claims.isPrepared(pod), false);
    await claims.prepare(pod, ever);
    assert.deepEqual(news(), ['gpu.org prepares a1,b1', 'nic.org prepares a1']);
    assert.equal(claims.isPrepared(pod), true);
    const other = pod.spec.containers[1];
    assert.ok(other);
    const gpu = { driver: 'gpu.org', pool: 'n1', device: 'gpu-0', cdiDevices: ['example.org/gpu=b1'] };
    assert.deepEqual(claims.assignedTo(pod, other), [{ name: 'b1', namespace: 'default', devices: [gpu] }]);
    const given = pod.spec.containers.map((container) => claims.cdiDevicesOf(pod, container));
    assert.deepEqual(given, [['example.org/gpu=a1', 'example.org/nic=0', 'example.org/nic=1'], ['example.org/gpu=b1'], [], []]);
    await claims.unprepare(pod.metadata.uid, ever);
    assert.deepEqual(news(), ['gpu.org unprepares a1,b1', 'nic.org unprepares a1']);
    await claims.unprepare(pod.metadata.uid, ever);
    assert.deepEqual(news(), []);
  });

  it('prepares what two pods share once, and unprepares it with the last of them', async () => {
    const [first, second] = [using('first', ['a']), using('second', ['a'])];
    put(aClaim('a', ['gpu.org'], [first, second]));
    await Promise.all([claims.prepare(first, ever), claims.prepare(second, ever)]);
    assert.deepEqual(news(), ['gpu.org prepares a']);
    await claims.unprepare(first.metadata.uid, ever);
    assert.deepEqual(news(), []);
    restart();
    await claims.unprepare(second.metadata.uid, ever);
    assert.deepEqual(news(), ['gpu.org unprepares a']);
  });

  it('asks nobody for a pod without claims', async () => {
    const pod = aPodThat('web');
    fetched = 0;
    assert.equal(claims.isPrepared(pod), true);
    await claims.prepare(pod, ever);
    assert.equal(fetched, 0);
  });

  it('finds a claim of a template by the status of the pod, and needs none where that says so', async () => {
    const spec = { resourceClaims: ['t', 'none'].map((name) => ({ name, resourceClaimTemplateName: 'template' })) };
    const pod = aPodThat('web', spec);
    const word = 'prepare dynamic resources: pod "default/web": ResourceClaim not created yet';
    await fails(claims.prepare(pod, ever), word);
    assert.equal(claims.isPrepared(pod), false);
    const made = { ...pod, status: { resourceClaimStatuses: [{ name: 't', resourceClaimName: 'web-t-1' }, { name: 'none' }] } };
    put(aClaim('web-t-1', ['gpu.org'], [pod]));
    await fails(
      claims.prepare(made, ever),
      'prepare dynamic resources: ResourceClaim default/web-t-1 was not created for pod default/web (pod is not owner)',
    );
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: pod.metadata.uid, controller: true };
    put(aClaim('web-t-1', ['gpu.org'], [pod], { metadata: { name: 'web-t-1', namespace: 'default', uid: 'u', ownerReferences: [owner] } }));
    await claims.prepare(made, ever);
    assert.deepEqual(news(), ['gpu.org prepares web-t-1']);
  });

  it('gives a container the devices of its extended resources', async () => {
    const pod = {
      ...aPodThat('web'),
      status: {
        extendedResourceClaimStatus: {
          resourceClaimName: 'x',
          requestMappings: [{ containerName: 'app', resourceName: 'example.org/gpu', requestName: 'gpu' }],
        },
      },
    };
    put(aClaim('x', ['gpu.org'], [pod]));
    await claims.prepare(pod, ever);
    assert.deepEqual(
      pod.spec.containers.map((container) => claims.cdiDevicesOf(pod, container)),
      [['example.org/gpu=x']],
    );
  });

  for (const [what, claim, message] of [
    ['is not there', () => undefined, 'fetch ResourceClaim a: resourceclaims.resource.k8s.io "a" not found'],
    [
      'is not reserved for the pod',
      () => aClaim('a', ['gpu.org'], []),
      `pod web (${using('web', []).metadata.uid}) is not allowed to use ResourceClaim a (uid-of-a)`,
    ],
    [
      'has nothing allocated',
      (pod: Pod) => aClaim('a', [], [pod], { status: { reservedFor: [{ resource: 'pods', name: 'web', uid: pod.metadata.uid }] } }),
      'ResourceClaim a: not allocated',
    ],
    ['is of a driver that is not there', (pod: Pod) => aClaim('a', ['gpu.org', 'no.org'], [pod]), 'DRA driver no.org is not registered'],
  ] as const) {
    it(`waits with the kubelet's words where the claim ${what}, and nothing is to be unprepared`, async () => {
      const pod = using('web', ['a']);
      const found = claim(pod);
      if (found) put(found);
      await fails(claims.prepare(pod, ever), `prepare dynamic resources: ${message}`);
      await claims.unprepare(pod.metadata.uid, ever);
      assert.deepEqual(news(), []);
    });
  }

  const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `example.org/gpu=${index}`);
  for (const [what, answer, message] of [
    ['fails', { error: 'no GPU is\nfree' }, 'failed for ResourceClaim a: no GPU is?free'],
    ['answers with nothing', undefined, 'skipped 1 ResourceClaims'],
    [
      'answers with 100,000 ids',
      device(...ids(100_000)),
      'failed for ResourceClaim a: the driver answered with 100000 CDI device ids, more than the 256 allowed',
    ],
    [
      'answers with 129 devices',
      { devices: Array.from({ length: 129 }, () => device().devices).flat() },
      'failed for ResourceClaim a: the driver answered with 129 devices, more than the 128 allowed',
    ],
    [
      'answers with an id that breaks a line',
      device('example.org/gpu=0\nx'),
      'failed for ResourceClaim a: "example.org/gpu=0\\nx" is not the name of a CDI device: expected VENDOR/CLASS=NAME',
    ],
    [
      'answers with a path',
      device('/dev/sda'),
      'failed for ResourceClaim a: "/dev/sda" is not the name of a CDI device: expected VENDOR/CLASS=NAME',
    ],
    [
      'answers with a name without end',
      { devices: [{ poolName: 'x'.repeat(513), deviceName: 'd', requestNames: [], cdiDeviceIds: [] }] },
      'failed for ResourceClaim a: the driver answered with 513 characters of a name, more than the 512 allowed',
    ],
    [
      'answers with too much in all',
      {
        devices: Array.from({ length: 128 }, () => ({
          poolName: 'x'.repeat(512),
          deviceName: 'd'.repeat(513 - 1),
          requestNames: ['r'],
          cdiDeviceIds: [],
        })),
      },
      'failed for ResourceClaim a: the driver answered with 131200 characters of names, more than the 65536 allowed',
    ],
  ] as const) {
    it(`says what a driver that ${what} has said, and asks it again`, async () => {
      const pod = using('web', ['a', 'b']);
      put(aClaim('a', ['gpu.org'], [pod]), aClaim('b', ['gpu.org'], [pod]));
      answers.set('gpu.org prepares', (all) => {
        const given = new Map(well(all, ever) as ReadonlyMap<string, DriverAnswer>);
        if (answer) given.set('uid-of-a', { error: '', devices: [], ...answer });
        else given.delete('uid-of-a');
        return given;
      });
      await fails(claims.prepare(pod, ever), `prepare dynamic resources: NodePrepareResources ${message}`);
      answers.clear();
      await claims.prepare(pod, ever);
      assert.deepEqual(news(), ['gpu.org prepares a', 'gpu.org prepares a,b'], 'what it had prepared is not prepared again');
    });
  }

  it('takes 256 ids', async () => {
    const pod = using('web', ['a']);
    put(aClaim('a', ['gpu.org'], [pod]));
    answers.set('gpu.org prepares', () => new Map([['uid-of-a', device(...ids(256))]]));
    await claims.prepare(pod, ever);
    assert.deepEqual(
      pod.spec.containers.map((container) => claims.cdiDevicesOf(pod, container).length),
      [256],
    );
  });

  it('takes nothing of claims that it did not ask for', async () => {
    const pod = using('web', ['a']);
    put(aClaim('a', ['gpu.org'], [pod]));
    answers.set('gpu.org prepares', () => new Map(Array.from({ length: 10_000 }, (_, index) => [`other-${index}`, device()])));
    await fails(
      claims.prepare(pod, ever),
      'prepare dynamic resources: NodePrepareResources returned result for unknown claim UID other-0; NodePrepareResources skipped 1 ResourceClaims',
    );
  });

  it('goes on with what an agent before it has prepared, and prepares it again after the machine has started anew', async () => {
    const pod = using('web', ['a']);
    put(aClaim('a', ['gpu.org'], [pod]));
    await claims.prepare(pod, ever);
    restart();
    assert.equal(claims.isPrepared(pod), true);
    assert.deepEqual(
      pod.spec.containers.map((container) => claims.cdiDevicesOf(pod, container)),
      [['example.org/gpu=a']],
    );
    restart('boot-2');
    assert.equal(claims.isPrepared(pod), false);
    await claims.prepare(pod, ever);
    assert.deepEqual(news(), ['gpu.org prepares a', 'gpu.org prepares a']);
  });

  it('unprepares what an agent was preparing when it was killed', async () => {
    const pod = using('web', ['a']);
    put(aClaim('a', ['gpu.org'], [pod]));
    answers.set('gpu.org prepares', hangs);
    const stop = new AbortController();
    const preparing = claims.prepare(pod, stop.signal);
    while (asked.length === 0) await new Promise((again) => setImmediate(again));
    restart();
    await claims.unprepare(pod.metadata.uid, ever);
    assert.deepEqual(news(), ['gpu.org prepares a', 'gpu.org unprepares a']);
    stop.abort(new Error('killed'));
    await fails(preparing, 'killed');
  });

  it('asks no driver before it is on the disk that it does', async () => {
    const pod = using('web', ['a']);
    put(aClaim('a', ['gpu.org'], [pod]));
    onSave = () => {
      throw new Error('no space left on device');
    };
    await fails(claims.prepare(pod, ever), 'prepare dynamic resources: checkpoint ResourceClaim cache: no space left on device');
    assert.deepEqual(news(), []);
  });

  it('keeps on the disk what could not be unprepared, and unprepares only that again', async () => {
    const pod = using('web', ['a', 'b']);
    put(aClaim('a', ['gpu.org', 'nic.org'], [pod]), aClaim('b', ['gpu.org'], [pod]));
    await claims.prepare(pod, ever);
    news();
    answers.set(
      'gpu.org unprepares',
      (all) => new Map(all.map(({ uid, name }) => [uid, { error: name === 'a' ? 'busy' : '', devices: [] }])),
    );
    await fails(
      claims.unprepare(pod.metadata.uid, ever),
      'unprepare dynamic resources: NodeUnprepareResources failed for ResourceClaim a: busy',
    );
    assert.deepEqual(news(), ['gpu.org unprepares a,b', 'nic.org unprepares a']);
    restart();
    await plugins.deregister({ name: 'gpu.org', endpoint: '/run/gpu.org', versions: [] });
    await fails(claims.unprepare(pod.metadata.uid, ever), 'unprepare dynamic resources: DRA driver gpu.org is not registered');
    await register('gpu.org');
    answers.clear();
    await claims.unprepare(pod.metadata.uid, ever);
    assert.deepEqual(news(), ['gpu.org unprepares a']);
  });

  it('writes again what could not be written when all was unprepared', async () => {
    const pod = using('web', ['a']);
    put(aClaim('a', ['gpu.org'], [pod]));
    await claims.prepare(pod, ever);
    onSave = () => {
      throw new Error('no space left on device');
    };
    await fails(
      claims.unprepare(pod.metadata.uid, ever),
      'unprepare dynamic resources: checkpoint ResourceClaim state: no space left on device',
    );
    onSave = () => {};
    await claims.unprepare(pod.metadata.uid, ever);
    news();
    restart();
    await claims.unprepare(pod.metadata.uid, ever);
    assert.deepEqual(news(), []);
  });

  it('gives back claims of which more was said than can be written, and then goes on with others', async () => {
    const [one, two, other] = [using('one', numbered('a')), using('two', numbered('b')), using('other', ['c'])];
    for (const pod of [one, two]) put(...(pod.spec.resourceClaims ?? []).map(({ name }) => aClaim(name, ['gpu.org'], [pod])));
    const device = { requestNames: ['r'.repeat(500)], deviceName: 'd'.repeat(500), poolName: 'p', cdiDeviceIds: [] };
    answers.set(
      'gpu.org prepares',
      (all) => new Map(all.map(({ uid }) => [uid, { error: '', devices: Array.from({ length: 64 }, () => device) }])),
    );
    await claims.prepare(one, ever);
    await assert.rejects(claims.prepare(two, ever), /what drivers say of all claims takes \d+ bytes, more than the 15728640 allowed/);
    await claims.unprepare(two.metadata.uid, ever);
    put(aClaim('c', ['nic.org'], [other]));
    await claims.prepare(other, ever);
  });

  it('refuses a claim that has taken the name of one that is not unprepared', async () => {
    const [old, pod] = [using('old', ['a']), using('web', ['a'])];
    put(aClaim('a', ['gpu.org'], [old]));
    await claims.prepare(old, ever);
    put(aClaim('a', ['gpu.org'], [pod], { metadata: { name: 'a', namespace: 'default', uid: 'another' } }));
    await fails(
      claims.prepare(pod, ever),
      'prepare dynamic resources: old ResourceClaim with same name a and different UID uid-of-a still exists (previous pod force-deleted?!)',
    );
    await claims.unprepare(old.metadata.uid, ever);
    await claims.prepare(pod, ever);
  });

  it('lets no claim wait for another, nor two pods for each other', async () => {
    const [slow, pod] = [using('slow', ['a', 'b']), using('web', ['c'])];
    put(...['a', 'b', 'c'].map((name) => aClaim(name, ['gpu.org'], [slow, pod])));
    answers.set('gpu.org prepares', (all, signal) => (all.some(({ name }) => name === 'a') ? hangs(all, signal) : well(all, signal)));
    const stop = new AbortController();
    const hanging = claims.prepare(slow, stop.signal);
    await claims.prepare(pod, ever);
    stop.abort(new Error('given up'));
    await fails(hanging, 'given up');
    answers.clear();
    const others = ['a,b', 'b,a', 'c,a', 'b,c'].map((names) => using(names.replace(',', '-'), names.split(',')));
    put(...['a', 'b', 'c'].map((name) => aClaim(name, ['gpu.org'], others)));
    await Promise.all(others.map((each) => claims.prepare(each, ever)));
    await Promise.all(others.map(({ metadata }) => claims.unprepare(metadata.uid, ever)));
  });

  it('tells how long the claims of a pod took, and which are in use', async () => {
    const [pod, other] = [using('web', ['a', 'b']), using('other', ['a'])];
    put(aClaim('a', ['gpu.org', 'nic.org'], [pod, other]), aClaim('b', ['gpu.org'], [pod]));
    const inUse = (): object => ({ ...claims.inUse(), byDriver: Object.fromEntries(claims.inUse().byDriver) });
    const none = { all: 0, byDriver: {} };
    const told = (): unknown => happenings.of('claimsHandled').at(-1);
    answers.set('nic.org prepares', () => Promise.reject(new Error('no')));
    await assert.rejects(claims.prepare(pod, ever));
    assert.deepEqual(told(), { operation: 'PrepareResources', tookMs: 0, failed: true });
    // Of one claim all is prepared.
    assert.deepEqual(inUse(), { all: 1, byDriver: { 'gpu.org': 1 } });
    answers.set('nic.org prepares', async (all) => {
      await clock.advance(300);
      return well(all, ever);
    });
    await claims.prepare(pod, ever);
    assert.deepEqual(told(), { operation: 'PrepareResources', tookMs: 300, failed: false });
    await claims.prepare(other, ever);
    const both = { all: 2, byDriver: { 'gpu.org': 2, 'nic.org': 1 } };
    assert.deepEqual(inUse(), both);
    restart();
    assert.deepEqual(inUse(), both);
    restart('boot-2');
    assert.deepEqual(inUse(), none);
    restart();
    await claims.unprepare(pod.metadata.uid, ever);
    assert.deepEqual(told(), { operation: 'UnprepareResources', tookMs: 0, failed: false });
    assert.deepEqual(inUse(), { all: 1, byDriver: { 'gpu.org': 1, 'nic.org': 1 } });
    await claims.unprepare(other.metadata.uid, ever);
    assert.deepEqual(inUse(), none);
    const count = happenings.happened.length;
    await claims.unprepare(other.metadata.uid, ever);
    await claims.prepare(aPodThat('plain'), ever);
    const stop = new AbortController();
    answers.set('gpu.org prepares', (all, signal) => {
      stop.abort(new Error('given up'));
      return hangs(all, signal);
    });
    await fails(claims.prepare(pod, stop.signal), 'given up');
    assert.equal(happenings.happened.length, count);
  });

  it('takes only plugins that speak what it speaks', async () => {
    await plugins.register({ name: 'old.org', endpoint: '/run/old.org', versions: ['v1beta1.DRAPlugin'] }, ever);
    await fails(
      plugins.register({ name: 'x.org', endpoint: '/run/x', versions: [] }, ever),
      'invalid supported gRPC versions of DRA driver plugin x.org at endpoint /run/x: empty list of supported gRPC services (aka supported versions)',
    );
    await fails(
      plugins.register({ name: 'x.org', endpoint: '/run/x', versions: ['v9.DRAPlugin'] }, ever),
      'invalid supported gRPC versions of DRA driver plugin x.org at endpoint /run/x: none of services supported by the plugin (["v9.DRAPlugin"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
    );
  });
});

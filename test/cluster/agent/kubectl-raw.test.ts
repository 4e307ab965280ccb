import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, pod } from '../../integration/agent/pod-specs.ts';
import { describeKubectl, type KubectlOnNode } from './describe-kubectl.ts';

interface Sample {
  readonly value: number;
  readonly atMs: number;
}

/** Samples of Prometheus' text format by name and labels, as metrics-server reads them: each has a time. */
function samples(page: string): ReadonlyMap<string, Sample> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, series = '', value, atMs] = /^(\w+(?:\{.*\})?) (\S+)(?: (\d+))?$/.exec(line) ?? assert.fail(line);
      return [series, { value: Number(value), atMs: Number(atMs) }];
    }),
  );
}

describeKubectl(
  'get --raw of the node',
  async (node) => {
    await node.create('busy', pod([app('while :; do :; done')], { terminationGracePeriodSeconds: 1 }));
    await node.up('busy');
  },
  (kubectl: KubectlOnNode) => {
    const raw = (path: string) => kubectl.run('get', '--raw', `/api/v1/nodes/${kubectl.node.name}/proxy/${path}`);
    const page = async (path: string): Promise<string> => {
      const { code, stdout, stderr } = await raw(path);
      assert.equal(code, 0, stderr);
      return stdout;
    };

    test('healthz is ok', async () => {
      assert.equal(await page('healthz'), 'ok');
    });

    test('pods has the pods with their status', async () => {
      const list = JSON.parse(await page('pods')) as { kind: string; items: { metadata: { name: string }; status: { phase: string } }[] };
      assert.equal(list.kind, 'PodList');
      const busy = list.items.find(({ metadata }) => metadata.name === kubectl.pod('busy'));
      assert.equal(busy?.status.phase, 'Running');
    });

    test('stats/summary tells of the node with its file systems, and of the pod', async () => {
      interface Used {
        readonly cpu: { readonly usageCoreNanoSeconds: number };
        readonly memory: { readonly workingSetBytes: number };
      }
      interface Summary {
        readonly node: Used & { readonly nodeName: string; readonly fs: { capacityBytes: number }; readonly runtime: { imageFs: object } };
        readonly pods: readonly { readonly podRef: { name: string }; readonly containers: readonly (Used & { name: string })[] }[];
      }
      const { node, pods } = JSON.parse(await page('stats/summary')) as Summary;
      assert.equal(node.nodeName, kubectl.node.name);
      assert.ok(node.cpu.usageCoreNanoSeconds > 0 && node.memory.workingSetBytes > 0 && node.fs.capacityBytes > 0 && node.runtime.imageFs);
      const [busy] = pods.find(({ podRef }) => podRef.name === kubectl.pod('busy'))?.containers ?? [];
      assert.ok(busy && busy.name === 'app' && busy.cpu.usageCoreNanoSeconds > 0 && busy.memory.workingSetBytes > 0);
    });

    test('metrics/resource is what metrics-server makes kubectl top of', async () => {
      const labels = `{container="app",namespace="${kubectl.node.namespace}",pod="${kubectl.pod('busy')}"}`;
      const wanted = [
        'node_cpu_usage_seconds_total',
        'node_memory_working_set_bytes',
        `container_cpu_usage_seconds_total${labels}`,
        `container_memory_working_set_bytes${labels}`,
      ];
      const first = samples(await page('metrics/resource'));
      for (const series of wanted) {
        const { value = 0, atMs = 0 } = first.get(series) ?? {};
        assert.ok(value > 0 && Math.abs(Date.now() - atMs) < 60_000, `${series} ${value} ${atMs}`);
      }
      const started = first.get(`container_start_time_seconds${labels}`);
      assert.ok(started && started.value > 0 && started.value * 1000 <= Date.now());
      // Two looks make a rate: it uses what it can get of one core.
      const rate = await kubectl.node.until('a later measurement', async () => {
        const [then, now] = [first, samples(await page('metrics/resource'))].map((of) => of.get(wanted[2] ?? ''));
        if (!then || !now) return undefined;
        kubectl.node.agent.look();
        return now.atMs > then.atMs + 1_000 && ((now.value - then.value) / (now.atMs - then.atMs)) * 1000;
      });
      assert.ok(rate > 0.02 && rate < 1.2, `${rate} cores`);
    });

    test("metrics has the kubelet's names", async () => {
      const text = await page('metrics');
      for (const line of [
        new RegExp(`^kubelet_node_name\\{node="${kubectl.node.name}"\\} 1$`, 'm'),
        /^kubelet_running_pods? \d+$/m,
        /^kubelet_runtime_operations_total\{operation_type="\w+"\} \d+$/m,
        /^kubelet_pod_start_duration_seconds_count \d+$/m,
        /^kubelet_pleg_relist_duration_seconds_bucket\{le="[^"]+"\} \d+$/m,
        /^rest_client_requests_total\{.*code="200".*\} \d+$/m,
      ])
        assert.match(text, line);
      assert.match(
        await page('metrics/cadvisor'),
        new RegExp(`^container_cpu_usage_seconds_total\\{.*pod="${kubectl.pod('busy')}".*\\} `, 'm'),
      );
    });

    test('configz is the configuration', async () => {
      const { kubeletconfig } = JSON.parse(await page('configz')) as { kubeletconfig: Record<string, unknown> };
      assert.equal(kubeletconfig['port'], kubectl.node.agent.port);
    });

    test("logs/ is the machine's log directory", async () => {
      assert.match(await page('logs/'), /<a href="pods\/">pods\/<\/a>/);
    });

    test('what does not exist is not found', async () => {
      for (const path of ['nope', 'logs/nope', `containerLogs/${kubectl.node.namespace}/nope/app`]) {
        const { code, stdout, stderr } = await raw(path);
        assert.deepEqual([code, stdout], [1, ''], path);
        assert.match(stderr, /NotFound|not found|could not find/);
      }
    });
  },
);

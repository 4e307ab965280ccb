import { tap } from 'rxjs';
import { drainInto } from '../base/drain-into.ts';
import { KUBERNETES_MINOR } from '../model/kubernetes-release.ts';
import { withProbeResults } from '../model/with-probe-results.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { HookRunner } from './hook-runner.ts';
import { PassedProbesFile } from './passed-probes-file.ts';
import { ProbeManager } from './probe-manager.ts';
import { probeRunner } from './run-probe.ts';

/** What is asked of containers while they live, and at their beginning and end: probes and hooks. */
export function capability(node: NodeParts): Contribution {
  const { clock, log, events, tell, random, statuses, engine } = node;
  const { access } = engine;
  const probes = new ProbeManager({
    clock,
    log,
    events,
    tell,
    random,
    statusOf: (uid) => statuses.get(uid),
    previousStatus: (pod) => pod.status ?? statuses.before(pod),
    runProbe: probeRunner({ clock, access, userAgent: `kube-probe/${KUBERNETES_MINOR}` }),
    file: new PassedProbesFile(node.files, { clock, log }),
  });
  const hooks = new HookRunner({
    clock,
    log,
    events,
    access,
    userAgent: `kube-lifecycle/${KUBERNETES_MINOR}`,
    podIp: async ({ metadata: { uid }, spec }, signal) =>
      spec.hostNetwork ? node.node.ips[0] : (await engine.runtime.observePod(uid, signal)).sandboxes[0]?.ips[0],
  });
  const findings = { startup: probes.startup.bind(probes), readiness: probes.readiness.bind(probes) };
  // Readiness is shown at once, and waits for no step of the pod.
  const shown = probes.changes.pipe(tap((uid) => statuses.amend(uid, (pod, status) => withProbeResults(pod, status, findings))));
  return {
    probes,
    hooks,
    services: [
      {
        name: probes.name,
        stage: 'before pods',
        run: async (signal) => {
          await Promise.all([drainInto(shown, (uid) => node.wake(uid, 'probe result'), signal), probes.run(signal)]);
        },
      },
      { name: hooks.name, stage: 'before pods', run: (signal) => hooks.run(signal) },
    ],
  };
}

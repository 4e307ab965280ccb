// npm run bench [-- pods|cri|api|streams|scale|builds|guards|timeline [--flags]]: pods (the default) holds the agent against the raw Docker
// Engine, cri against raw calls of CRI to containerd; api and streams against the reference kubelet, pods in the one and logs, exec, cp and
// port-forward in the other; scale many pods against few; builds this checkout's build against another's; guards the same build with and
// without what keeps a full node working; timeline what it costs to keep what happens.
const what = process.argv[2]?.startsWith('-') ? 'pods' : (process.argv[2] ?? 'pods');
if (what === 'pods' || what === 'cri') await import('./bench/pods.ts');
else if (what === 'api') await import('./bench/api.ts');
else if (what === 'streams') await import('./bench/streams.ts');
else if (what === 'scale') await import('./bench/scale.ts');
else if (what === 'builds') await import('./bench/builds.ts');
else if (what === 'guards') await import('./bench/guards.ts');
else if (what === 'timeline') await import('./bench/timeline.ts');
else {
  console.error(`unknown benchmark ${what}: expected pods, cri, api, streams, scale, builds, guards or timeline`);
  process.exitCode = 2;
}

// npm run bench [-- pods|api|streams [--flags]]: pods (the default) holds the agent against the raw engine; api and streams against the
// reference kubelet, pods in the one and logs, exec, cp and port-forward in the other.
const what = process.argv[2]?.startsWith('-') ? 'pods' : (process.argv[2] ?? 'pods');
if (what === 'pods') await import('./bench/pods.ts');
else if (what === 'api') await import('./bench/api.ts');
else if (what === 'streams') await import('./bench/streams.ts');
else {
  console.error(`unknown benchmark ${what}: expected pods, api or streams`);
  process.exitCode = 2;
}

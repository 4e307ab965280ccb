// npm run bench [-- pods|api [--flags]]: pods (the default) holds the agent against the raw engine; api against the reference kubelet.
const what = process.argv[2]?.startsWith('-') ? 'pods' : (process.argv[2] ?? 'pods');
if (what === 'pods') await import('./bench/pods.ts');
else if (what === 'api') await import('./bench/api.ts');
else {
  console.error(`unknown benchmark ${what}: expected pods or api`);
  process.exitCode = 2;
}

/** Go's names (GOARCH), which labels and images use, for Node's. */
const goArchs: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le', loong64: 'loong64' };

/** "amd64" for "x64". */
export const goArch = (arch: string): string => goArchs[arch] ?? arch;

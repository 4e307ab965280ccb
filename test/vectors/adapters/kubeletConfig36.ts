import { type Input, loaded } from './kubelet-config.ts';

/** The program that made the cases says of itself that its version is 0.0, has no JSON logger, and was on cgroup v1, which hides the rest of Linux. */
const program = { logFormats: ['text'], previousRelease: '0.18446744073709551615', onLinux: false };

export const run = (input: Input): Promise<unknown> => loaded(input, program);
export { same } from './kubelet-config.ts';

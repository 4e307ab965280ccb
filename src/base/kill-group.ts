/** Kills a process group, if it is still there. Undefined: nothing was started. */
export function killGroup(group: number | undefined): void {
  if (group === undefined) return;
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** What makes room for the next log file, in this order. Names of files in the directory of the log. */
export interface LogRotation {
  /** What was left unfinished, was compressed before, or is one too many. */
  readonly remove: readonly string[];
  /** Each becomes NAME.gz. */
  readonly compress: readonly string[];
  /** The name that the log gets; then the next one is begun under its own. Where that fails it gets its own name back. */
  readonly renameTo: string;
}

const COMPRESSED = '.gz';
const UNFINISHED = '.tmp';

/** Of a log that is as large as it may be, among the files that are there (pkg/kubelet/logs/container_log_manager.go rotateLog). */
export function planLogRotation(log: string, files: readonly string[], maxFiles: number, nowMs: number): LogRotation {
  const rotated = rotatedFiles(log, files);
  const used = rotated.filter((file) => isUsed(file, rotated)).toSorted();
  // The log and the one that it becomes are two more.
  const surplus = used.slice(0, Math.max(0, used.length - Math.max(0, maxFiles - 2)));
  const kept = used.slice(surplus.length);
  return {
    remove: [...rotated.filter((file) => !isUsed(file, rotated)), ...surplus],
    compress: kept.filter((file) => !file.endsWith(COMPRESSED)),
    renameTo: `${log}.${timestamp(nowMs)}`,
  };
}

/** All that there is of a log, oldest first (GetAllLogs). */
export function logsInOrder(log: string, files: readonly string[]): readonly string[] {
  const rotated = rotatedFiles(log, files);
  return [...rotated.filter((file) => isUsed(file, rotated)).toSorted(), log];
}

/** Whether a file is an earlier one of the log, as `planLogRotation` names it, and not compressed. */
export function isRotatedLog(log: string, file: string): boolean {
  return file.startsWith(`${log}.`) && /^\d{8}-\d{6}$/.test(file.slice(log.length + 1));
}

/** What goes with the container (Clean). */
export function logsOf(log: string, files: readonly string[]): readonly string[] {
  return files.filter((file) => file.startsWith(log));
}

const rotatedFiles = (log: string, files: readonly string[]): readonly string[] => files.filter((file) => file.startsWith(`${log}.`));

const isUsed = (file: string, rotated: readonly string[]): boolean =>
  !file.endsWith(UNFINISHED) && (file.endsWith(COMPRESSED) || !rotated.includes(`${file}${COMPRESSED}`));

/** "20260304-050607" */
function timestamp(ms: number): string {
  const [date = '', time = ''] = new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T');
  return `${date}-${time}`;
}

import type { FieldErrors } from './field-error.ts';

const realTime = [
  'SIGRTMAX',
  ...Array.from({ length: 14 }, (_, i) => `SIGRTMAX-${i + 1}`),
  'SIGRTMIN',
  ...Array.from({ length: 15 }, (_, i) => `SIGRTMIN+${i + 1}`),
];
const common = `
  SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT
  SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ
`;
const linuxSignals: readonly string[] = [...common.trim().split(/\s+/), ...realTime].toSorted();
const windowsSignals: readonly string[] = ['SIGKILL', 'SIGTERM'];

/** The signals are those of the operating system that the pod names (validateStopSignal in pkg/apis/core/validation). */
export function validateStopSignal(signal: string | undefined, os: string | undefined, at: string, errors: FieldErrors): void {
  if (signal === undefined) return;
  if (os === undefined || os === '') {
    errors.forbidden(at, 'may not be set for containers with empty `spec.os.name`');
    return;
  }
  const supported = os === 'windows' ? windowsSignals : linuxSignals;
  if (!supported.includes(signal)) errors.notSupported(at, signal, supported);
}

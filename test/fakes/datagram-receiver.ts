import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface DatagramReceiver {
  /** The next datagram that holds the text, of those that have not been taken yet. */
  next(text: string): Promise<string>;
  /** What has come. */
  readonly all: readonly string[];
  /** Senders wait once its queue is full. */
  stopReading(): void;
}

/** Perl is on each Debian; Node has no such sockets. A line a datagram, with blanks between its lines. */
const RECEIVE = String.raw`
use Socket; $| = 1;
my $at = shift; $at =~ s/^@/\0/;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!; bind($s, pack_sockaddr_un($at)) or die $!;
print "bound\n";
while (defined recv($s, my $m, 65536, 0)) { $m =~ s/\n/ /g; print "$m\n" }`;

/** A unix datagram socket as a service manager has it: a path, or "@name". It goes with the test. */
export async function datagramReceiver(test: { after(dispose: () => void): void }, address: string): Promise<DatagramReceiver> {
  const child = spawn('perl', ['-e', RECEIVE, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  test.after(() => void child.kill('SIGKILL'));
  const all: string[] = [];
  let taken = 0;
  const waiting = new Set<() => void>();
  const bound = Promise.withResolvers<void>();
  createInterface(child.stdout).on('line', (line) => {
    if (line === 'bound') bound.resolve();
    else all.push(line);
    for (const look of waiting) look();
  });
  await Promise.race([
    bound.promise,
    once(child, 'exit').then(() => Promise.reject(new Error(`no datagram socket could be made at ${address}`))),
  ]);
  const next = (text: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const look = (): void => {
      const at = all.findIndex((each, index) => index >= taken && each.includes(text));
      if (at < 0) return;
      taken = at + 1;
      resolve(all[at] ?? '');
    };
    waiting.add(look);
    look();
    return promise.finally(() => waiting.delete(look));
  };
  return { next, all, stopReading: () => void child.kill('SIGSTOP') };
}

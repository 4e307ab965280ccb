import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface NotifyProgram {
  readonly path: string;
  /** What each run was asked to send, and where to, in their order. */
  readonly sent: () => readonly string[];
}

/** Stands in for systemd-notify: keeps what it is asked to send, then does what `script` says. */
export function notifyProgram(test: { after(dispose: () => void): void }, script = 'exit 0'): NotifyProgram {
  const directory = mkdtempSync(join(tmpdir(), 'rxlet-notify-'));
  test.after(() => rmSync(directory, { recursive: true }));
  const [path, log] = [join(directory, 'notify'), join(directory, 'log')];
  writeFileSync(path, `#!/bin/sh\nprintf '%s|' "$@" "$NOTIFY_SOCKET" >>${log}\necho >>${log}\n${script}\n`);
  chmodSync(path, 0o755);
  const sent = (): readonly string[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('|\n')
          .filter((line) => line !== '')
      : [];
  return { path, sent };
}

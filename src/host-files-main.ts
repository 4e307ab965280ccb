// The program of HostFilesProcess: what is done to files that may never answer, away from the agent. Kept small, for it is started when a pod waits.
import { systemClock } from './base/clock.ts';
import { serveHostFiles } from './hostfiles/serve-host-files.ts';
import { hostTasks } from './host-tasks.ts';

serveHostFiles(
  {
    send: (reply) => process.send?.(reply),
    onRequest: (heard) => process.on('message', heard),
    onDisconnect: (heard) => process.on('disconnect', heard),
    // An exit would wait for the threads that hang.
    end: () => process.kill(process.pid, 'SIGKILL'),
  },
  hostTasks,
  systemClock,
);

import type { Cause } from '../../model/explanation.ts';

interface Fault {
  readonly is: RegExp;
  readonly code: string;
  readonly what: (found: RegExpExecArray) => string;
  readonly advice: string;
}

/** What engines, kernels and this agent say when something cannot be started, from the most telling on. */
const faults: readonly Fault[] = [
  {
    is: /exec format error/i,
    code: 'exec-format',
    what: () => 'its program is not for this machine (exec format error): another architecture, or a script without #!',
    advice: 'build the image for this architecture, or give the script an interpreter line',
  },
  {
    is: /exec: "([^"]*)": (?:executable file not found|stat [^:]*: no such file)|exec: "([^"]*)": .*no such file or directory|starting container process caused: .*"([^"]*)": .*no such file/i,
    code: 'command-not-found',
    what: ([, a, b, c]) => notFound(a ?? b ?? c ?? ''),
    advice: 'correct command or args, or use an image that has the program',
  },
  {
    is: /no command specified/i,
    code: 'no-command',
    what: () => 'it has no command, and neither has its image',
    advice: 'set command, or build the image with ENTRYPOINT or CMD',
  },
  {
    is: /exec: "([^"]*)": permission denied/i,
    code: 'command-not-executable',
    what: ([, command]) => `its command ${JSON.stringify(command)} may not be executed (permission denied)`,
    advice: 'make the file executable in the image (chmod +x)',
  },
  {
    is: /(?:Bind for |listen tcp4? |address )?(\S*?):?\s*(?:failed: )?(?:bind: )?(?:port is already allocated|address already in use|bind: address already)/i,
    code: 'port-taken',
    what: ([, address]) =>
      `a host port is taken already${address === undefined || address === '' ? '' : ` (${address})`}: the port is in use`,
    advice: 'choose another hostPort, or end what uses it (ss -ltnp)',
  },
  {
    is: /(secret|configmap) "([^"]*)" not found/i,
    code: 'object-missing',
    what: ([, kind, name]) => `${kindName(kind)} ${name} is not found`,
    advice: 'create it, or mark the reference optional',
  },
  {
    is: /(?:couldn't find key|references non-existent (?:\S+ )?key:?) ?(\S+)(?: in (\S+) (\S+))?/i,
    code: 'key-missing',
    what: ([, key, kind, name]) => `key ${key} is missing${kind === undefined ? '' : ` in ${kindName(kind)} ${name}`}`,
    advice: 'add the key, or correct its name in the pod',
  },
  {
    is: /object "([^"]*)" not registered|no source declares|is not declared/i,
    code: 'object-missing',
    what: ([, name]) => `${name ?? 'an object'} is not known`,
    advice: 'create it, or correct its name in the pod',
  },
  {
    is: /hostPath type check failed: (.*)/i,
    code: 'host-path-type',
    what: ([, rest]) => `a hostPath volume is not of its type: ${rest}`,
    advice: "correct the volume's path or type, or make what it names",
  },
  {
    is: /OOM-killed \(memory limit too low/i,
    code: 'memory-limit-too-low',
    what: () => 'its memory limit is too low even to start it (OOM-killed)',
    advice: 'raise resources.limits.memory: some MiB are needed to start a container',
  },
  {
    is: /Cannot mkdir: (.*?) is not a directory|container init: mkdir (\S+): not a directory/,
    code: 'working-directory',
    what: ([, path, other]) => `its workingDir ${path ?? other} is a file in the image, and no directory`,
    advice: 'correct workingDir',
  },
  {
    is: /required binary (\S+) is missing(?: \(package (\S+))?/i,
    code: 'program-missing',
    what: ([, program, of]) => `the program ${program} is missing on this node${of === undefined ? '' : ` (package ${of})`}`,
    advice: 'install it on this node',
  },
  {
    is: /runAsNonRoot|run as root|non-numeric user/i,
    code: 'runs-as-root',
    what: () => 'it must not run as root (runAsNonRoot), and its image would, or names a user without a number',
    advice: 'set securityContext.runAsUser to a number other than 0, or build the image with USER',
  },
  {
    is: /unable to find (?:user|group) (\S+?):? /i,
    code: 'user-unknown',
    what: ([, user]) => `the image knows no user or group ${user}`,
    advice: 'use a number in runAsUser, or an image that has the user',
  },
  {
    is: /(?:load|open) seccomp profile ("[^"]*"|\S+)|seccomp profile|loading seccomp|seccomp.*no such file/i,
    code: 'seccomp-profile-missing',
    what: ([, file]) => `its seccomp profile ${file ?? ''} cannot be loaded`,
    advice: "put the profile where localhostProfile names it, below the agent's seccomp directory",
  },
  {
    is: /apparmor/i,
    code: 'apparmor',
    what: () => 'its AppArmor profile cannot be used',
    advice: 'load the profile on this machine (apparmor_parser)',
  },
  {
    is: /(subPath "[^"]*"[^:]*)|^[^"]*subpath(?!.*subPath ")/i,
    code: 'sub-path',
    what: ([, words]) => words ?? "a volume mount's subPath cannot be made or is not there",
    advice: 'make the path in the volume, or correct subPath',
  },
  {
    is: /RuntimeClass (\S+?):? |runtimeclass|runtime class|unknown or invalid runtime name:? ?(\S*)|handler/i,
    code: 'runtime-class',
    what: ([, name, runtime]) => `its RuntimeClass ${name ?? runtime ?? ''} is unknown here`,
    advice: 'create the RuntimeClass, or configure its handler in the engine',
  },
  {
    is: /read-only file system/i,
    code: 'read-only-file-system',
    what: () => 'something is written to a read-only file system',
    advice: 'mount a volume (emptyDir) where it writes, or turn readOnlyRootFilesystem off',
  },
  {
    is: /no space left on device/i,
    code: 'disk-full',
    what: () => 'a disk is full (no space left on device)',
    advice: 'make room on the disk',
  },
  {
    is: /device or resource busy|target is busy/i,
    code: 'busy',
    what: () => 'something of it is in use (device or resource busy)',
    advice: 'end what uses it (fuser -vm PATH)',
  },
  {
    is: /not a directory: .*Are you trying to mount a directory|not a directory.*mount|error mounting .*: not a directory/i,
    code: 'mount-type',
    what: () => 'a directory is mounted on a file, or a file on a directory',
    advice: 'correct mountPath or subPath',
  },
  {
    is: /plugin type="[^"]*" failed \(\w+\): (.*)/,
    code: 'network',
    what: ([, said]) => `the pod cannot be connected to the pods' network (CNI): ${said}`,
    advice: "look at the CNI configuration and plugins of this node, and at the network provider's own pods",
  },
  {
    is: /cni|network (?:plugin )?is not ready|network .* not found/i,
    code: 'network',
    what: () => "the pod cannot be connected to the pods' network (CNI)",
    advice: "look at the CNI configuration and plugins of this node, and at the network provider's own pods",
  },
  {
    is: /cgroup/i,
    code: 'cgroup',
    what: () => 'its cgroup cannot be made or set',
    advice: 'check that the agent and the engine use the same cgroup driver',
  },
  {
    is: /deadline|timed? ?out|took longer than|did not answer/i,
    code: 'too-slow',
    what: () => 'the engine or a file system does not answer in time',
    advice: 'look at the engine and the disks of this node',
  },
];

/** The kernel says the same of a script whose interpreter is missing. */
const notFound = (command: string): string =>
  `its command ${JSON.stringify(command)} is not found in the image${command.startsWith('/') ? ', or the interpreter in its first line (#!) is not' : ''}`;

/** Of an error's beginning, and as many of its end: the patterns take long for long texts, which may be of a pod's or a registry's making. */
const MOST_CHARACTERS = 500;

/** An error text, short enough to be searched for patterns: its middle is left out. */
export const searchable = (words: string): string =>
  words.length <= 2 * MOST_CHARACTERS ? words : `${words.slice(0, MOST_CHARACTERS)} … ${words.slice(-MOST_CHARACTERS)}`;

/** What an error text means; undefined: only what it says. */
export function startFault(words: string): (Pick<Cause, 'code' | 'advice'> & { readonly what: string }) | undefined {
  const searched = searchable(words);
  for (const { is, code, what, advice } of faults) {
    const found = is.exec(searched);
    if (found) return { code, what: what(found), advice };
  }
  return undefined;
}

const kindName = (kind = ''): string => ({ secret: 'Secret', configmap: 'ConfigMap' })[kind.toLowerCase()] ?? kind;

import { FieldErrors, formatFieldError } from '../../model/validation/field-error.ts';
import { HttpError } from '../../ports/route.ts';

/** Which of the node's own logs are asked for. */
export type LogQuery =
  /** Below /var/log, as it was asked for. */
  { readonly file: string } | { readonly services: readonly string[]; readonly options: LogQueryOptions };

export interface LogQueryOptions {
  /** A date. */
  readonly sinceMs?: number | undefined;
  /** A date. */
  readonly untilMs?: number | undefined;
  readonly tailLines?: number | undefined;
  /** 0: this boot; -1: the one before. */
  readonly boot?: number | undefined;
  /** A regular expression; empty: everything. */
  readonly pattern: string;
}

const MAX_TAIL_LINES = 100_000;
const MAX_SERVICE_LENGTH = 256;
const MAX_SERVICES = 4;
const MAX_PATTERN_LENGTH = 4096;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * The log query of a request to /logs/, judged as Kubernetes does it (pkg/kubelet/kubelet_server_journal.go); undefined: none, files are
 * browsed. `path` is what follows /logs/. Throws 400 for what cannot be read and 406 for what makes no sense.
 */
export function logQuery(query: URLSearchParams, path: string): LogQuery | undefined {
  const unread = new FieldErrors();
  const asked = query.getAll('query');
  const files = asked.filter((each) => /[/\\]/.test(each));
  const services = asked.filter((each) => !/[/\\]/.test(each) && each.trim() !== '');
  if (asked.length > 0 && files.length + services.length === 0) unread.invalid('query', asked, 'query cannot be empty');
  const options: LogQueryOptions = {
    sinceMs: time(query, 'sinceTime', unread),
    untilMs: time(query, 'untilTime', unread),
    boot: integer(query, 'boot', unread),
    tailLines: integer(query, 'tailLines', unread),
    pattern: query.get('pattern') ?? '',
  };
  refuse(400, unread);
  const hasOptions = Object.values(options).some((value) => value !== undefined && value !== '');
  if (asked.length === 0 && !hasOptions) return undefined;
  if (path !== '') throw new HttpError(406, 'path not allowed in query mode\n');
  refuse(406, faultsOf(files, services, options, hasOptions));
  const [file] = files;
  return file === undefined ? { services, options } : { file };
}

function faultsOf(files: readonly string[], services: readonly string[], options: LogQueryOptions, hasOptions: boolean): FieldErrors {
  const faults = new FieldErrors();
  for (const service of services) {
    // Kubernetes says 100, and means this.
    if (Buffer.byteLength(service) > MAX_SERVICE_LENGTH) faults.invalid('query', service, 'length must be less than 100');
    else if (/[^a-zA-Z\-_0-9@]/.test(service)) faults.invalid('query', service, 'input contains unsupported characters');
  }
  if (services.length > MAX_SERVICES) faults.tooMany('query', MAX_SERVICES, services.length);
  if (files.length + services.length === 0) faults.required('query', 'cannot be empty with options');
  else if (files.length > 0 && services.length > 0) {
    faults.invalid('query', `[${files.join(' ')}], [${services.join(' ')}]`, 'cannot specify a file and service');
  } else if (files.length > 1) faults.invalid('query', files, 'cannot specify more than one file');
  else if (files.length === 1 && hasOptions) faults.invalid('query', files, 'cannot specify file with options');
  const { sinceMs, untilMs, boot, tailLines, pattern } = options;
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    faults.invalid('untilTime', new Date(untilMs).toISOString(), 'must be after `sinceTime`');
  }
  if (boot !== undefined && boot > 0) faults.invalid('boot', boot, 'must be less than 1');
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MAX_TAIL_LINES)) {
    faults.invalid('tailLines', tailLines, `must be between 0 and ${MAX_TAIL_LINES}, inclusive`);
  }
  const wrong = patternFault(pattern);
  if (wrong !== undefined) faults.invalid('pattern', pattern, wrong);
  return faults;
}

function time(query: URLSearchParams, name: string, faults: FieldErrors): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const atMs = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(atMs)) return atMs;
  faults.invalid(name, text, 'invalid time format');
  return undefined;
}

/** As strconv.Atoi reads it. */
function integer(query: URLSearchParams, name: string, faults: FieldErrors): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  if (/^[+-]?\d{1,15}$/.test(text)) return Number(text);
  const why = /^[+-]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  faults.invalid(name, text, `strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`);
  return undefined;
}

/** Only its form is looked at: journalctl is what matches with it, and in more dialects than one. */
function patternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return 'error parsing regexp: expression too long';
  try {
    void new RegExp(pattern.replace(/\(\?[imsU-]+\)/g, '').replaceAll('(?P<', '(?<'));
    return undefined;
  } catch (error) {
    return `error parsing regexp: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The words of an aggregate of field errors. */
function refuse(status: 400 | 406, faults: FieldErrors): void {
  const lines = [...new Set(faults.all.map(formatFieldError))];
  if (lines.length > 0) throw new HttpError(status, `${lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`}\n`);
}

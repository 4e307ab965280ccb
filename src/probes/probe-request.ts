import { quote } from '../model/go-text.ts';
import type { Container } from '../model/pod.ts';
import { formatGoUrl, type GoUrl, GoUrlError, hostAndPort, parseGoUrl, urlOfPath } from './go-url.ts';

/** Header names exactly as given, each with its values in order. */
export type ProbeHeaders = ReadonlyMap<string, readonly string[]>;

/** Where an httpGet goes. A path that is no URL is taken as it is (formatURL in pkg/kubelet/prober). */
export function probeUrl(scheme: string, host: string, port: number, path: string): GoUrl {
  return { ...pathUrl(path), scheme, host: hostAndPort(host, port) };
}

/** For people. */
export function probeUrlText(scheme: string, host: string, port: number, path: string): string {
  return formatGoUrl(probeUrl(scheme, host, port, path));
}

function pathUrl(path: string): GoUrl {
  try {
    return parseGoUrl(path);
  } catch (error) {
    if (error instanceof GoUrlError) return urlOfPath(path);
    throw error;
  }
}

/** buildHeader in pkg/kubelet/prober: repeated names gather their values. */
export function probeHeaders(list: readonly { readonly name: string; readonly value?: string }[] | undefined): ProbeHeaders {
  const headers = new Map<string, readonly string[]>();
  for (const { name, value = '' } of list ?? []) headers.set(name, [...(headers.get(name) ?? []), value]);
  return headers;
}

const isPort = (port: number): boolean => port > 0 && port < 65_536;

/** A port by number, by the container's name for it, or by a number in a text. Throws when there is none (extractPort in pkg/kubelet/prober). */
export function probePort(port: number | string | undefined, { ports }: Pick<Container, 'ports'>): number {
  const number = typeof port === 'string' ? (ports?.find(({ name = '' }) => name === port)?.containerPort ?? atoi(port)) : (port ?? 0);
  if (!isPort(number)) throw new Error(`invalid port number: ${number}`);
  return number;
}

/** strconv.Atoi */
function atoi(text: string): number {
  if (!/^[+-]?[0-9]+$/.test(text)) throw new Error(`strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, value) !== value) throw new Error(`strconv.Atoi: parsing ${quote(text)}: value out of range`);
  return Number(value);
}

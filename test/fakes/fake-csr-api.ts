import { BehaviorSubject, defer, distinctUntilChanged, finalize, map, type Observable } from 'rxjs';
import type { CsrClients } from '../../src/cluster/certificates/csr-client.ts';
import { ApiError } from '../../src/model/api-error.ts';
import type { ApiRequest, ResourceEvent, WatchedObject, WatchTarget } from '../../src/ports/kube-api.ts';

interface Condition {
  readonly type: 'Approved' | 'Denied' | 'Failed';
  readonly reason?: string;
  readonly message?: string;
}

interface SigningRequest extends WatchedObject {
  readonly spec: { readonly request: string; readonly signerName: string; readonly usages: readonly string[] };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly certificate?: string };
}

export type Approver = (requestPem: string) => string | undefined;

/** Certificate signing requests of an API server in memory. An approver signs at once; without one a request waits. */
export class FakeCsrApi implements CsrClients {
  readonly sent: ApiRequest[] = [];
  /** Each is the answer to one request, in order. */
  readonly failures: Error[] = [];
  approver: Approver | undefined;
  watchers = 0;
  closed = 0;
  readonly #requests = new BehaviorSubject<ReadonlyMap<string, SigningRequest>>(new Map());
  #uids = 0;

  readonly api = {
    request: <T>(request: ApiRequest): Promise<T> => this.#answer(request) as Promise<T>,
    closeConnections: (): void => void this.closed++,
  };

  informer = <T extends WatchedObject>({ fieldSelector = '' }: WatchTarget): Observable<ResourceEvent<T>> =>
    defer(() => {
      this.watchers++;
      return this.#watch(fieldSelector.replace('metadata.name=', '')) as Observable<ResourceEvent<never>>;
    }).pipe(finalize(() => this.watchers--));

  get names(): readonly string[] {
    return [...this.#requests.value.keys()];
  }

  get(name: string): SigningRequest | undefined {
    return this.#requests.value.get(name);
  }

  approve(name: string, sign: Approver): void {
    const certificate = sign(this.requestPem(name)) ?? '';
    this.#change(name, { conditions: [{ type: 'Approved' }], certificate: Buffer.from(certificate).toString('base64') });
  }

  decide(name: string, condition: Condition): void {
    this.#change(name, { conditions: [condition] });
  }

  remove(name: string): void {
    const all = new Map(this.#requests.value);
    all.delete(name);
    this.#requests.next(all);
  }

  requestPem(name: string): string {
    return Buffer.from(this.get(name)?.spec.request ?? '', 'base64').toString();
  }

  #watch(name: string): Observable<ResourceEvent<SigningRequest>> {
    return this.#requests.pipe(
      map((all) => all.get(name)),
      distinctUntilChanged(),
      map((item, index) => (index > 0 && item ? { kind: 'put', item } : { kind: 'reset', items: item ? [item] : [] })),
    );
  }

  #change(name: string, status: NonNullable<SigningRequest['status']>): void {
    const before = this.get(name);
    if (before === undefined) throw new Error(`no request ${name}`);
    this.#requests.next(new Map([...this.#requests.value, [name, { ...before, status }]]));
  }

  async #answer(request: ApiRequest): Promise<unknown> {
    this.sent.push(request);
    const failure = this.failures.shift();
    if (failure) throw failure;
    if (request.method === 'GET') {
      const found = this.get(request.path.split('/').at(-1) ?? '');
      if (found === undefined) throw new ApiError(404, 'NotFound', 'not found');
      return found;
    }
    const posted = request.body as Pick<SigningRequest, 'spec'> & { readonly metadata: { readonly name: string } };
    const { name } = posted.metadata;
    if (this.get(name)) throw new ApiError(409, 'AlreadyExists', `certificatesigningrequests "${name}" already exists`);
    const created = { metadata: { name, uid: `uid-${++this.#uids}`, resourceVersion: String(this.#uids) }, spec: posted.spec };
    this.#requests.next(new Map([...this.#requests.value, [name, created]]));
    if (this.approver) this.approve(name, this.approver);
    return created;
  }
}

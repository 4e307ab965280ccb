import type { V1CertificateSigningRequest } from '@kubernetes/client-node';
import { concatMap } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { deadline } from '../../base/deadline.ts';
import { firstOf } from '../../base/first-of.ts';
import type { Logger } from '../../base/logger.ts';
import { ApiError, isAlreadyExists } from '../../model/api-error.ts';
import type { Wire } from '../../model/wire.ts';
import type { CertificatePurpose } from './certificate-purpose.ts';
import type { KubeApi, KubeClients, ResourceEvent, WatchedObject } from '../../ports/kube-api.ts';

/** Clients with the credentials of the one that asks for a certificate: a node with the one it has, or with its bootstrap token. */
export interface CsrClients {
  readonly api: Pick<KubeApi, 'request' | 'closeConnections'>;
  readonly informer: KubeClients['informer'];
}

/**
 * The answer was no. `credentials`: these may not ask. `request`: this request was decided, or what was signed is of no use;
 * only another one can get another answer.
 */
export class CertificateRefusedError extends Error {
  override readonly name = 'CertificateRefusedError';
  readonly refused: 'credentials' | 'request';

  constructor(refused: 'credentials' | 'request', message: string, options?: ErrorOptions) {
    super(message, options);
    this.refused = refused;
  }
}

/** As long as the kubelet waits before it asks again (client-go certificate_manager.go, certificateWaitTimeout). */
const APPROVAL_DEADLINE_MS = 15 * 60_000;

const COLLECTION = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

type SigningRequest = Wire<V1CertificateSigningRequest> & WatchedObject;

export interface RequestCertificateDeps extends CsrClients {
  readonly clock: Clock;
  readonly log: Logger;
}

export interface CertificateOrder {
  /** Finds the request again that an earlier run made with the same key. */
  readonly name: string;
  /** PKCS#10 in PEM. */
  readonly requestPem: string;
  readonly purpose: CertificatePurpose;
}

/**
 * Asks the cluster to sign a request and waits until it is approved and signed. Resolves with the certificates, PEM, the new one first.
 * Rejects with CertificateRefusedError (denied, failed, not allowed), with what KubeApi rejects with, with an Error after 15 minutes,
 * and with the signal's reason.
 */
export async function requestCertificate(deps: RequestCertificateDeps, order: CertificateOrder, signal: AbortSignal): Promise<string> {
  const { informer, clock, log } = deps;
  const { name } = order;
  const request = await createOrFind(deps, order, signal);
  log.info(`${order.purpose.what} requested, waiting until it is approved and signed`, { csr: name });
  let last: Progress | undefined;
  const certificates = informer<SigningRequest>({ path: COLLECTION, fieldSelector: `metadata.name=${name}` }).pipe(
    concatMap((event) => {
      last = progress(event, last, request.metadata);
      return last?.certificatePem === undefined ? [] : [last.certificatePem];
    }),
  );
  using within = deadline(clock, APPROVAL_DEADLINE_MS, () => lateError(name, last?.approved === true), signal);
  return await firstOf(certificates, within.signal);
}

async function createOrFind({ api, log }: RequestCertificateDeps, order: CertificateOrder, signal: AbortSignal): Promise<SigningRequest> {
  const { signerName, usages } = order.purpose;
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: order.name },
    spec: { request: Buffer.from(order.requestPem).toString('base64'), signerName, usages },
  };
  try {
    return await api.request<SigningRequest>({ method: 'POST', path: COLLECTION, body }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw explained(error);
  }
  log.v(2, 'certificate requested before, waiting for that request', { csr: order.name });
  const found = await api.request<SigningRequest>({ method: 'GET', path: `${COLLECTION}/${order.name}` }, signal);
  if (found.spec.signerName === signerName) return found;
  throw new CertificateRefusedError(
    'request',
    `certificate signing request ${order.name} is meant for another signer: ${found.spec.signerName}`,
  );
}

interface Progress {
  readonly approved: boolean;
  readonly certificatePem: string | undefined;
}

/** Where the request stands; undefined until a server that may lag behind shows it. Throws CertificateRefusedError when it will never be signed. */
function progress(
  event: ResourceEvent<SigningRequest>,
  last: Progress | undefined,
  { name, uid }: WatchedObject['metadata'],
): Progress | undefined {
  const shown = event.kind === 'reset' ? event.items : event.kind === 'put' ? [event.item] : [];
  const current = shown.find(({ metadata }) => metadata.uid === uid);
  if (current === undefined) {
    if (last === undefined) return undefined;
    throw new CertificateRefusedError('request', `certificate signing request ${name} was deleted before it was signed`);
  }
  const { conditions = [], certificate = '' } = current.status ?? {};
  const refusal = conditions.find(({ type }) => type === 'Denied' || type === 'Failed');
  if (refusal !== undefined) {
    const verb = refusal.type === 'Denied' ? 'is denied' : 'failed';
    throw new CertificateRefusedError(
      'request',
      `certificate signing request ${name} ${verb}, reason: ${refusal.reason ?? ''}, message: ${refusal.message ?? ''}`,
    );
  }
  const approved = conditions.some(({ type }) => type === 'Approved');
  if (!approved || certificate === '') return { approved, certificatePem: undefined };
  return { approved, certificatePem: Buffer.from(certificate, 'base64').toString() };
}

function lateError(name: string, approved: boolean): Error {
  const minutes = APPROVAL_DEADLINE_MS / 60_000;
  return new Error(
    approved
      ? `certificate signing request ${name} was approved but not signed within ${minutes} minutes: does the controller manager have --cluster-signing-cert-file and --cluster-signing-key-file?`
      : `certificate signing request ${name} was not approved within ${minutes} minutes: approve it (kubectl certificate approve ${name}) or let the node's group be approved automatically`,
  );
}

/** What the API server will say again however often it is asked. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status } = error;
  const why = status === 404 ? 'the API server does not serve certificates.k8s.io/v1' : refusalOf[status];
  return why === undefined
    ? error
    : new CertificateRefusedError('credentials', `cannot create a certificate signing request: ${why}`, { cause: error });
}

const refusalOf: Readonly<Record<number, string>> = {
  400: 'the API server does not understand it',
  401: 'the API server does not accept the credentials (an expired token or certificate, or another cluster)',
  403: 'the credentials do not allow it',
  422: 'the API server finds it invalid',
};

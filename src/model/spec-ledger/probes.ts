import type {
  V1ExecAction,
  V1GRPCAction,
  V1HTTPGetAction,
  V1HTTPHeader,
  V1Lifecycle,
  V1LifecycleHandler,
  V1Probe,
  V1SleepAction,
  V1TCPSocketAction,
} from '@kubernetes/client-node';
import { honoured, section } from './entry.ts';

const exec = section<V1ExecAction>('ExecAction', { command: honoured });
const httpGet = section<V1HTTPGetAction>('HTTPGetAction', {
  host: honoured,
  httpHeaders: section<V1HTTPHeader>('HTTPHeader', { name: honoured, value: honoured }),
  path: honoured,
  port: honoured,
  scheme: honoured,
});
const tcpSocket = section<V1TCPSocketAction>('TCPSocketAction', { host: honoured, port: honoured });

export const probe = section<V1Probe>('Probe', {
  exec,
  failureThreshold: honoured,
  grpc: section<V1GRPCAction>('GRPCAction', { port: honoured, service: honoured }),
  httpGet,
  initialDelaySeconds: honoured,
  periodSeconds: honoured,
  successThreshold: honoured,
  tcpSocket,
  terminationGracePeriodSeconds: honoured,
  timeoutSeconds: honoured,
});

const handler = section<V1LifecycleHandler>('LifecycleHandler', {
  exec,
  httpGet,
  sleep: section<V1SleepAction>('SleepAction', { seconds: honoured }),
  tcpSocket,
});

export const lifecycle = section<V1Lifecycle>('Lifecycle', { postStart: handler, preStop: handler, stopSignal: honoured });

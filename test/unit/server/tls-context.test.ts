import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { tlsCurves } from '../../../src/model/tls-settings.ts';
import { tlsContext } from '../../../src/server/tls-context.ts';

const settings = { tlsMinVersion: 'VersionTLS12', tlsCipherSuites: [], tlsCurvePreferences: [] } as const;

test('curves are spoken in the order in which they are preferred, and chosen by Node.js where none are', () => {
  assert.equal(tlsContext({ ...settings, tlsCurvePreferences: [29, 23] }, undefined, undefined).ecdhCurve, 'X25519:P-256');
  assert.equal('ecdhCurve' in tlsContext(settings, undefined, undefined), false);
});

test('every curve is one that OpenSSL knows', () => {
  for (const id of tlsCurves.keys()) {
    assert.doesNotThrow(() => createSecureContext(tlsContext({ ...settings, tlsCurvePreferences: [id] }, undefined, undefined)), `${id}`);
  }
});

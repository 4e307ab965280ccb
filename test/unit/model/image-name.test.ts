import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  applyDefaultImageTag,
  defaultImagePullPolicy,
  type ImageName,
  ImageNameError,
  parseImageName,
} from '../../../src/model/image-name.ts';

const sha = `sha256:${'0123456789abcdef'.repeat(4)}`;

test('a short name means docker.io/library', () => {
  const table: readonly (readonly [string, ImageName])[] = [
    ['nginx', { repo: 'docker.io/library/nginx', tag: 'latest', digest: '' }],
    ['me/nginx:1', { repo: 'docker.io/me/nginx', tag: '1', digest: '' }],
    ['localhost/x', { repo: 'localhost/x', tag: 'latest', digest: '' }],
    ['host:5000/x', { repo: 'host:5000/x', tag: 'latest', digest: '' }],
    [`index.docker.io/x@${sha}`, { repo: 'docker.io/library/x', tag: '', digest: sha }],
  ];
  for (const [image, parsed] of table) assert.deepEqual(parseImageName(image), parsed);
});

test('a wrong name is refused with the reason', () => {
  const table: readonly (readonly [string, string])[] = [
    ['', 'invalid reference format'],
    ['x@md5:0123456789abcdef0123456789abcdef', 'unsupported digest algorithm'],
    ['x:1@SHA256:0123456789abcdef0123456789abcdef', 'invalid checksum digest format'],
    ['Upper', 'invalid reference format: repository name (library/Upper) must be lowercase'],
    ['x:\u0130', 'repository name must be lowercase'] /* what Go makes of it in lower case would do */,
    ['a'.repeat(300), 'repository name must not be more than 255 characters'],
  ];
  for (const [image, reason] of table) {
    assert.throws(
      () => parseImageName(image),
      (e) => e instanceof ImageNameError && e.message === `couldn't parse image name: ${reason}`,
      image,
    );
    assert.equal(defaultImagePullPolicy(image), 'IfNotPresent');
  }
  assert.throws(() => applyDefaultImageTag('a\n\u00a0"é'), {
    message: 'couldn\'t parse image name "a\\n\\u00a0\\"é": invalid reference format',
  });
});

const component = fc.stringMatching(/^[a-z0-9]{1,8}((\.|_|__|-{1,3})[a-z0-9]{1,4})?$/);

test('a parsed name parses to itself, and a defaulted one is left alone', () => {
  fc.assert(
    fc.property(
      fc.array(component, { minLength: 1, maxLength: 4 }),
      fc.option(fc.stringMatching(/^[A-Za-z0-9_][\w.-]{0,9}$/)),
      (path, tag) => {
        const image = path.join('/') + (tag === null ? '' : `:${tag}`);
        const once = parseImageName(image);
        assert.deepEqual(parseImageName(`${once.repo}:${once.tag}`), once);
        assert.equal(applyDefaultImageTag(applyDefaultImageTag(image)), applyDefaultImageTag(image));
      },
    ),
  );
});

test('a long wrong name is refused at once', () => {
  const long = `${'a'.repeat(50_000)}!`;
  assert.throws(() => parseImageName(long), ImageNameError);
});

import { trimSpace } from '../go-text.ts';
import type { Container } from './given.ts';
import type { FieldErrors } from './field-error.ts';

export function validateImageSpaces(containers: readonly Pick<Container, 'image'>[], at: string, errors: FieldErrors): void {
  for (const [i, { image = '' }] of containers.entries()) {
    if (trimSpace(image) !== image) errors.invalid(`${at}[${i}].image`, image, 'must not have leading or trailing whitespace');
  }
}

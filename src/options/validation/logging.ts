import type { CheckedSettings, Rule } from './checked-settings.ts';

const MAX_INT32 = 2 ** 31 - 1;

/** component-base/logs/api Validate. `formats` are those that a program can write. */
export const logging =
  (formats: readonly string[]): Rule =>
  (of) => {
    const format = of.text('logging.format');
    const verbosity = of.number('logging.verbosity');
    const flushing = of.value('logging.flushFrequency');
    return [
      (String(flushing).startsWith('-') || flushing === undefined) &&
        `logging.flushFrequency: Invalid value: ${JSON.stringify(flushing ?? 0)}: Must be greater than zero`,
      !formats.includes(format) && `logging.format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`,
      verbosity > MAX_INT32 && `logging.verbosity: Invalid value: ${verbosity}: Must be <= ${MAX_INT32}`,
      ...vmodule(of, format),
      ...(['text', 'json'] as const).flatMap((written) => alphaOptions(of, `logging.options.${written}`)),
    ];
  };

function vmodule(of: CheckedSettings, format: string): readonly (string | false)[] {
  const patterns = of.maps('logging.vmodule');
  return [
    patterns.length > 0 && format !== '' && format !== 'text' && 'logging.vmodule: Forbidden: Only supported for text log format',
    ...patterns.flatMap(({ filePattern, verbosity }, index) => {
      const at = `logging.vmodule[${index}]`;
      const pattern = typeof filePattern === 'string' ? filePattern : '';
      const level = typeof verbosity === 'number' ? verbosity : 0;
      return [
        pattern === '' && `${at}: Required value: File pattern must not be empty`,
        /[=,]/.test(pattern) && `${at}: Invalid value: ${JSON.stringify(pattern)}: File pattern must not contain equal sign or comma`,
        level > MAX_INT32 && `${at}: Invalid value: ${level}: Must be <= ${MAX_INT32}`,
      ];
    }),
  ];
}

function alphaOptions(of: CheckedSettings, options: string): readonly (string | false)[] {
  if (of.gate('LoggingAlphaOptions')) return [];
  const buffer = of.text(`${options}.infoBufferSize`);
  return [
    of.isOn(`${options}.splitStream`) && `${options}.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled`,
    buffer !== '' && buffer !== '0' && `${options}.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled`,
  ];
}

import type { Page } from 'playwright-core';

/** What keeps people from using the page as it is now: each in one sentence. Runs in the browser, by what it has computed. */
export const accessibilityFaults = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const faults: string[] = [];
    const isShown = (element: Element): boolean => element.checkVisibility() && element.getClientRects().length > 0;
    const nameOf = (element: Element): string => {
      const ids = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter((id) => id !== '');
      const by = ids.flatMap((id) => document.querySelector(`#${CSS.escape(id)}`)?.textContent ?? []);
      const labels =
        element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement
          ? Array.from(element.labels ?? [], ({ textContent }) => textContent)
          : [];
      const images = Array.from(element.querySelectorAll('img'), ({ alt }) => alt);
      return [element.getAttribute('aria-label') ?? '', ...by, ...labels, ...images, element.textContent ?? ''].join('').trim();
    };
    const about = (element: Element): string => element.outerHTML.slice(0, 120);

    for (const element of document.querySelectorAll('a, button, input, textarea, select, progress, summary, [tabindex="0"], [role=img]'))
      if (isShown(element) && nameOf(element) === '') faults.push(`no name: ${about(element)}`);
    for (const image of document.querySelectorAll('img:not([alt])')) faults.push(`no alternative text: ${about(image)}`);
    for (const element of document.querySelectorAll('[tabindex]'))
      if (Number(element.getAttribute('tabindex')) > 0) faults.push(`tabindex above 0: ${about(element)}`);
    for (const landmark of ['header', 'nav', 'main']) {
      const count = document.querySelectorAll(landmark).length;
      if (count !== 1) faults.push(`${count} of landmark ${landmark}`);
    }
    if (document.documentElement.lang === '') faults.push('no language');
    if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
    let level = 0;
    for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
      const next = Number(heading.tagName.slice(1));
      if (next > level + 1) faults.push(`heading skips a level: ${about(heading)}`);
      level = next;
    }
    const ids = Array.from(document.querySelectorAll('[id]'), ({ id }) => id);
    for (const id of new Set(ids.filter((each, at) => ids.indexOf(each) !== at))) faults.push(`id twice: ${id}`);
    const parents: Readonly<Record<string, string>> = { row: 'table, rowgroup', cell: 'row', columnheader: 'row' };
    for (const [role, within] of Object.entries(parents))
      for (const element of document.querySelectorAll(`[role=${role}]`)) {
        const parent = element.parentElement?.getAttribute('role') ?? '';
        if (!within.split(', ').includes(parent)) faults.push(`role ${role} in ${parent || 'no role'}: ${about(element)}`);
      }

    const rgba = (color: string): readonly number[] => {
      const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
      return color.startsWith('color(srgb') ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
    };
    const luminance = ([r = 0, g = 0, b = 0]: readonly number[]): number => {
      const [x = 0, y = 0, z = 0] = [r, g, b].map((part) =>
        part / 255 <= 0.040_45 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const over = (top: readonly number[], below: readonly number[], alpha: number): readonly number[] =>
      [0, 1, 2].map((at) => (top[at] ?? 0) * alpha + (below[at] ?? 0) * (1 - alpha));
    const groundOf = (element: Element | null): readonly number[] => {
      if (element === null) return [255, 255, 255];
      const ground = rgba(getComputedStyle(element).backgroundColor);
      const alpha = ground[3] ?? 1;
      return alpha === 1 ? ground : over(ground, groundOf(element.parentElement), alpha);
    };
    const opacityOf = (element: Element | null): number =>
      element === null ? 1 : Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      if (
        element === null ||
        (node.textContent ?? '').trim() === '' ||
        !isShown(element) ||
        element.closest('.visually-hidden, .skip, noscript') !== null
      )
        continue;
      const style = getComputedStyle(element);
      const ground = groundOf(element);
      const inSvg = element instanceof SVGElement;
      const ink = over(rgba(inSvg ? style.fill : style.color), ground, opacityOf(element));
      const [light = 0, dark = 0] = [luminance(ink), luminance(ground)].sort((a, b) => b - a);
      const ratio = (light + 0.05) / (dark + 0.05);
      const isLarge =
        Number.parseFloat(style.fontSize) >= 24 || (Number.parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (isLarge ? 3 : 4.5))
        faults.push(`contrast ${ratio.toFixed(2)} of ${JSON.stringify((node.textContent ?? '').slice(0, 40))} in ${about(element)}`);
    }
    return faults;
  });

/** By how many pixels the page is wider than its window. */
export const overflowPx = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth));

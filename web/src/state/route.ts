// The page's state is its address: #/training?model=llama-3-70b&on=h100:64x8
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  page: string;
  params: Readonly<Record<string, string>>;
}

export type Patch = Record<string, string | undefined>;

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { page: path || 'model', params: Object.fromEntries(new URLSearchParams(query)) };
}

export function writeRoute(route: Route): string {
  const query = new URLSearchParams(route.params).toString();
  /* what mesh and slice texts are made of stays readable */
  const plain = query.replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%40/g, '@').replace(/%7E/g, '~');
  return `#/${route.page}${plain ? `?${plain}` : ''}`;
}

function patched(route: Route, patch: Patch): Route {
  const params: Record<string, string> = { ...route.params };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || value === '') delete params[key];
    else params[key] = value;
  }
  return { ...route, params };
}

/** Change parameters of the address. While a slider moves, the entry is replaced. */
export function setParams(patch: Patch, isStep = true): void {
  const hash = writeRoute(patched(readRoute(location.hash), patch));
  if (hash === location.hash) return;
  if (isStep) history.pushState(null, '', hash);
  else history.replaceState(null, '', hash);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

function useAddress<T>(read: (route: Route) => T, name = ''): T {
  const [state, setState] = useState(() => read(readRoute(location.hash)));
  useEffect(() => {
    const follow = () => setState(read(readRoute(location.hash)));
    follow();
    window.addEventListener('hashchange', follow);
    window.addEventListener('popstate', follow);
    return () => {
      window.removeEventListener('hashchange', follow);
      window.removeEventListener('popstate', follow);
    };
  }, [name]);
  return state;
}

let last: { hash: string; route: Route } | undefined;

/** The same object for the same address. */
function wholeRoute(route: Route): Route {
  const hash = writeRoute(route);
  if (last?.hash !== hash) last = { hash, route };
  return last.route;
}

export function useRoute(): Route {
  return useAddress(wholeRoute);
}

/** One parameter: what shows it is drawn anew when it changes, not with every address. */
export function useParam(name: string | undefined): string | undefined {
  return useAddress((route) => (name === undefined ? undefined : route.params[name]), name);
}

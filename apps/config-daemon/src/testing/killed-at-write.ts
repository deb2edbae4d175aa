// SPDX-License-Identifier: Apache-2.0
/** killedAtWrite simulates a daemon that is killed at one of its writes. */
import type { Host } from "@switchyard/host";

/** A host on which no call returns from the nth write on, as for a killed daemon. The write itself is done or not. */
export function killedAtWrite(
  host: Host,
  nth: number,
  isDone: boolean,
): { readonly host: Host; readonly death: Promise<void> } {
  const { promise: death, resolve: die } = Promise.withResolvers<undefined>();
  const forever = new Promise<never>(() => undefined);
  let writes = 0;

  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          if (writes >= nth) return forever;
          if (/^(list|read|settle)/.test(String(name)) || ++writes < nth) return Reflect.apply(method, target, args);
          try {
            if (isDone) await Reflect.apply(method, target, args);
          } finally {
            die(undefined); // also if the host refuses the write
          }
          return forever;
        };
      },
    });
  const { boot: _boot, events: _events, ...ports } = host;
  const wrapped = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, wrap(port)]));
  return { host: { ...host, ...wrapped }, death };
}

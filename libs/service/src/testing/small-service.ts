// SPDX-License-Identifier: Apache-2.0
/**
 * A service for tests of runService in a real process. `--behaviour` selects what its main function does.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { flag, integer, oneOf, runService } from "../index.ts";

const code = await runService({
  name: "small",
  summary: "Waits for a signal.",
  flags: {
    behaviour: flag(oneOf("wait", "finish", "reject", "throw-later", "hang"), {
      default: "wait",
      env: "BEHAVIOUR",
      help: "Behaviour of the main function.",
    }),
    size: flag(integer({ minimum: 1, maximum: 9 }), { default: "3", env: "SIZE", help: "Has no effect." }),
  },
  main: async ({ flags, log, signal, setNotReady }) => {
    setNotReady(() => []);
    log.info({ size: flags.size, namespace: flags.namespace }, "working");
    switch (flags.behaviour) {
      case "finish":
        return;
      case "reject":
        throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
      case "throw-later":
        setImmediate(() => {
          throw new Error("nobody awaits this");
        });
        await sleep(60_000);
        return;
      case "hang":
        await new Promise(() => undefined);
        return;
      case "wait":
        await sleep(60_000, undefined, { signal });
    }
  },
});
process.exit(code);

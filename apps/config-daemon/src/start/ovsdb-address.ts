// SPDX-License-Identifier: Apache-2.0
/** ovsdbAddress is the kind of --ovsdb-socket-path. It accepts the forms of upstream's flag, too. */
import type { FlagKind } from "@switchyard/service";

/** The socket of ovsdb-server in all distributions. */
export const defaultOvsdbAddress = "/var/run/openvswitch/db.sock";

export const ovsdbAddress: FlagKind<string> = {
  placeholder: "PATH",
  expected: "an absolute path, unix:/PATH, unix:///PATH or tcp:HOST:PORT",
  parse: (text) => (/^(?:(?:unix:(?:\/\/)?)?\/[^\0]+|tcp:[^/\0]+)$/.test(text) ? text : undefined),
};

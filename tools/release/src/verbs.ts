// SPDX-License-Identifier: Apache-2.0
/** All verbs of `npm run release`. */
import { bundle } from "./bundle/verb.ts";
import { chart } from "./chart/verb.ts";
import { cli } from "./cli/npm-package.ts";
import { documentation } from "./documentation/build-documentation.ts";
import { affected, publishImages } from "./images/verbs.ts";
import { headlamp } from "./headlamp/build-plugin.ts";
import { krew } from "./krew/plugin.ts";
import { login, sign } from "./sign/verb.ts";
import type { Verb } from "./command-line.ts";
import { changelog, checkTag, version } from "./version/verbs.ts";
import { e2eParts, workflows } from "./workflows/verb.ts";

/** Name -> verb, in the order of the help text. */
export const verbs: Readonly<Record<string, Verb>> = {
  version,
  "check-tag": checkTag,
  changelog,
  affected,
  "publish-images": publishImages,
  chart,
  bundle,
  cli,
  krew,
  headlamp,
  documentation,
  login,
  sign,
  "e2e-parts": e2eParts,
  workflows,
};

// SPDX-License-Identifier: Apache-2.0
/** There and back with the real Go operator and its real webhook, by Helm 4.0, which takes fields over only if it is forced. */
import { describeWalk } from "./describe-walk.ts";

describeWalk({ installedBy: "helm4.0", version: "helm4.0" });

// SPDX-License-Identifier: Apache-2.0
/** There and back with the real Go operator and its real webhook, by the newest Helm 4. */
import { describeWalk } from "./describe-walk.ts";

describeWalk({ installedBy: "helm4", version: "helm4" });

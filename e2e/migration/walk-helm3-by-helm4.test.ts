// SPDX-License-Identifier: Apache-2.0
/** There and back with the real Go operator and its real webhook, of a release that Helm 3 installed and Helm 4 upgrades and rolls back. */
import { describeWalk } from "./describe-walk.ts";

describeWalk({ installedBy: "helm3", version: "helm4" });

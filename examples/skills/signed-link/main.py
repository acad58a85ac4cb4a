"""Makes a signed link. All parameters arrive as one JSON object in SKILL_PARAMETERS; types are as declared."""

import hashlib
import hmac
import json
import os
import urllib.parse


def main():
    wanted = json.loads(os.environ["SKILL_PARAMETERS"])
    query = {"days": int(wanted["days"]), "inline": int(wanted["inline"])}
    signed = f"{wanted['path']}?{urllib.parse.urlencode(query)}"
    query["signature"] = hmac.new(wanted["key"].encode(), signed.encode(), hashlib.sha256).hexdigest()[:32]
    link = f"https://files.test{wanted['path']}?{urllib.parse.urlencode(query)}"
    print(json.dumps({"link": link, "valid_days": query["days"]}))


if __name__ == "__main__":
    main()

"""Looks up the weather of a city: python3 main.py CITY"""

import json
import os
import sys
import urllib.parse
import urllib.request

API = os.environ.get("WEATHER_API", "https://api.weather.test")


def weather(city):
    query = urllib.parse.urlencode({"city": city, "key": os.environ.get("WEATHER_API_KEY", "")})
    with urllib.request.urlopen(f"{API}/v1/current?{query}", timeout=10) as answer:
        return json.load(answer)


def main():
    city = " ".join(sys.argv[1:]) or "Berlin"
    try:
        found = weather(city)
    except OSError as error:
        print(json.dumps({"city": city, "error": str(error)}))
        return 1
    print(json.dumps({"city": city, "temperature_c": found["temperature_c"], "conditions": found["conditions"]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

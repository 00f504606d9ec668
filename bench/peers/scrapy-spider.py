# The fastest plain spider Scrapy's own parts make: every link of every page, nothing kept, nothing said.
#
#   python3 scrapy-spider.py SEEDFILE     prints {"pages": n}

import json
import sys

from urllib.parse import urldefrag, urljoin

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

with open(sys.argv[1]) as file:
    SEEDS = file.read().split()
AT_ONCE = 64


class PeerSpider(Spider):
    name = "peer"
    pages = 0
    seen = set(SEEDS)

    def start_requests(self):
        for url in SEEDS:
            yield Request(url, dont_filter=True)

    def parse(self, response):
        PeerSpider.pages += 1
        base = response.url
        # The tree itself: a selector for every link costs more than the link.
        for href in response.selector.root.xpath("//a/@href"):
            url = urldefrag(urljoin(base, href)).url
            if url not in self.seen:
                self.seen.add(url)
                yield Request(url, dont_filter=True)


process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": AT_ONCE,
        "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE,
        # One loop over what a page yields, not a hundred that take turns: they cost more than the page.
        "CONCURRENT_ITEMS": 1,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "LOG_ENABLED": False,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": False,
        "AJAXCRAWL_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOADER_STATS": False,
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
        "EXTENSIONS": {
            "scrapy.extensions.memusage.MemoryUsage": None,
            "scrapy.extensions.logstats.LogStats": None,
            "scrapy.extensions.corestats.CoreStats": None,
        },
        "SPIDER_MIDDLEWARES": {
            "scrapy.spidermiddlewares.offsite.OffsiteMiddleware": None,
            "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
            "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
            "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
        },
    }
)
process.crawl(PeerSpider)
process.start()
print(json.dumps({"pages": PeerSpider.pages}))

# A spider for every link of every page, nothing kept, nothing said, in one of two ways:
#
#   python3 scrapy-spider.py SEEDFILE manual     as Scrapy's manual has it: rules, its own links, filter of duplicates and middlewares
#   python3 scrapy-spider.py SEEDFILE bare       the fastest that its parts make: all of those replaced or left out
#
# Prints {"pages": n}.

import json
import sys

from urllib.parse import urldefrag, urljoin

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

with open(sys.argv[1]) as file:
    SEEDS = file.read().split()
AT_ONCE = 64


class ManualSpider(CrawlSpider):
    name = "manual"
    pages = 0
    start_urls = SEEDS
    rules = [Rule(LinkExtractor(tags="a", attrs="href"), callback="parse_page", follow=True)]

    def parse_start_url(self, response):
        return self.parse_page(response)

    def parse_page(self, response):
        ManualSpider.pages += 1
        return []


class BareSpider(Spider):
    name = "bare"
    pages = 0
    seen = set(SEEDS)

    def start_requests(self):
        for url in SEEDS:
            yield Request(url, dont_filter=True)

    def parse(self, response):
        BareSpider.pages += 1
        base = response.url
        # The tree itself: a selector for every link costs more than the link.
        for href in response.selector.root.xpath("//a/@href"):
            url = urldefrag(urljoin(base, href)).url
            if url not in self.seen:
                self.seen.add(url)
                yield Request(url, dont_filter=True)


SETTINGS = {
    "CONCURRENT_REQUESTS": AT_ONCE,
    "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "LOG_ENABLED": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "AJAXCRAWL_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
}
BARE = {
    # One loop over what a page yields, not a hundred that take turns: they cost more than the page.
    "CONCURRENT_ITEMS": 1,
    "DOWNLOADER_STATS": False,
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
spider, settings = (BareSpider, {**SETTINGS, **BARE}) if sys.argv[2] == "bare" else (ManualSpider, SETTINGS)
process = CrawlerProcess(settings)
process.crawl(spider)
process.start()
print(json.dumps({"pages": spider.pages}))
